"""The layer `nn.LSTM` over 20 steps: batch 4, inputs 16, hidden 32, forward and backward; a kernel takes all steps."""

import numpy as np

from benchmarks.workload import Workload, gradients_of, random_arrays

STEPS, BATCH, INPUTS, HIDDEN = 20, 4, 16, 32


def prepare(wg):
    """See the module."""
    generator = np.random.default_rng(0)
    layer = wg.nn.LSTM(INPUTS, HIDDEN)
    shapes = {name: tuple(p.shape) for name, p in layer.named_parameters()}
    layer.load_state_dict({name: wg.tensor(a) for name, a in random_arrays(generator, **shapes).items()})
    parameters = dict(layer.named_parameters())
    sequence = wg.tensor(generator.standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32))

    def step():
        return gradients_of(layer(sequence)[0].pow(2).mean(), parameters)

    return step


WORKLOAD = Workload("lstm_layer", 0.4, prepare)
