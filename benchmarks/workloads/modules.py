"""The step of `mlp`, with modules: what they add is the difference of the two."""

from benchmarks.workload import Workload, gradients_of
from benchmarks.workloads.mlp import SIZES, data


def prepare(wg):
    """See the module."""
    nn = wg.nn

    class Perceptron(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(SIZES[0], SIZES[1])
            self.second = nn.Linear(SIZES[1], SIZES[2])
            self.last = nn.Linear(SIZES[2], SIZES[3])
            self.activation = nn.ReLU()

        def forward(self, x):
            hidden = self.activation(self.first(x))
            hidden = self.activation(self.second(hidden))
            return self.last(hidden)

    parameters, inputs, labels = data()
    model, loss_function = Perceptron(), nn.CrossEntropyLoss()
    layers = (model.first, model.second, model.last)
    for i, layer in enumerate(layers):
        layer.load_state_dict({"weight": wg.tensor(parameters[f"w{i}"]), "bias": wg.tensor(parameters[f"b{i}"])})
    p = {f"w{i}": layer.weight for i, layer in enumerate(layers)}
    p |= {f"b{i}": layer.bias for i, layer in enumerate(layers)}
    x, labels = wg.tensor(inputs), wg.tensor(labels)

    def step():
        return gradients_of(loss_function(model(x), labels), p)

    return step


WORKLOAD = Workload("mlp_step_of_modules", 0.25, prepare)
