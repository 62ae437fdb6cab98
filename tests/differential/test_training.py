"""Each layer and each loss over 50 steps in Wengert and in PyTorch: losses on the way, and what parameters, inputs and
buffers are at the end.

What is trained are the parameters of the layer and its inputs, towards numbers that change with every step, with
one optimizer for every other row.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import wengert as wg

from .nn_rows import LAYERS, LOSSES, Between, Whole
from .test_nn import exchange, ids, inputs, leaves, made

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings(  # of PyTorch
    "ignore:enable_nested_tensor", "ignore:Using padding='same'", "ignore:reduction. 'mean' divides"
)

STEPS = 50
OPTIMIZERS = {"SGD": {"lr": 0.02, "momentum": 0.9}, "Adam": {"lr": 0.02}}
# What the rounding of both libraries may grow to; PyTorch computes Hardsigmoid with 1/6 in single precision.
TOLERANCE = {"Hardsigmoid": 1e-5}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Any:
    """Tensors are small: threads would wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# Classes of nn that are no layer or loss with an outcome of its own.
NOT_TRAINED = {
    **dict.fromkeys(("Module", "Container", "RNNBase", "RNNCellBase"), "a base of others, which has no forward"),
    **dict.fromkeys(("ModuleDict", "ModuleList", "ParameterDict", "ParameterList"), "it holds others: no forward"),
    "RReLU": "it draws random numbers, which are not PyTorch's",
    "DataParallel": "of several processors of one kind, which are not there",
    "SyncBatchNorm": "of several processes",
    "CrossMapLRN2d": "PyTorch's never takes the first channel out of a sum, and its gradient is not that of its result",
    "NLLLoss2d": "NLLLoss under its former name",
}
DRAWS = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"}  # rows have p = 0


def varied(b: Any, shapes: list[Any], step: int) -> list[Any]:
    """Inputs that change with every step: integers and numbers between bounds; others are as the row gives them."""
    generator = np.random.default_rng(step)
    tensors = inputs(b, shapes)
    for i, shape in enumerate(shapes):
        if isinstance(shape, Whole):
            tensors[i] = b.tensor(generator.integers(shape.low, shape.high, shape.shape))
        elif isinstance(shape, Between):
            tensors[i] = b.tensor(generator.uniform(shape.low, shape.high, shape.shape), dtype=b.float64)
    return tensors


def model_of(b: Any, layer: Any, shapes: list[Any]) -> Any:
    """A model of the layer and of its inputs, as far as they are numbers that require grad."""

    class Model(b.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer
            self.given = b.nn.ParameterList([t.detach() for t in inputs(b, shapes) if t.requires_grad])

        def forward(self, step: int, change: Any) -> list[Any]:
            given = iter(self.given)
            return leaves(self.layer(*change([next(given) if t.requires_grad else t for t in varied(b, shapes, step)])))

    return Model()


def loss_of(b: Any, outputs: list[Any], step: int) -> Any:
    """The mean square of what is left to random numbers, of all outputs that are numbers with a fraction."""
    generator = np.random.default_rng(1000 + step)
    return sum(
        (o - b.tensor(generator.standard_normal(tuple(o.shape)), dtype=b.float64)).square().mean()
        for o in outputs
        if o.is_floating_point()
    )


def trained(b: Any, model: Any, optimizer: str, total: Any, change: Any = list) -> tuple[list[float], dict[str, Any]]:
    """Losses of all steps, and the state after them."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    steps = getattr(b.optim, optimizer)(parameters, **OPTIMIZERS[optimizer]) if parameters else None
    losses = []
    for step in range(STEPS):
        loss = total(b, model(step, change), step)
        losses.append(loss.item())
        if steps is not None:
            steps.zero_grad()
            loss.backward()
            steps.step()
    return losses, {name: value.detach().numpy() for name, value in model.state_dict().items()}


def compare(name: str, arguments: str, shapes: list[Any], optimizer: str, total: Any, change: Any = list) -> None:
    ours, theirs = made(wg, name, arguments), made(torch, name, arguments)
    if name.startswith("Lazy"):  # shapes are known after the first call
        for b, module in ((wg, ours), (torch, theirs)):
            module(*inputs(b, shapes))
    exchange(theirs, ours, wg)
    losses, state = trained(wg, model_of(wg, ours, shapes), optimizer, total, change)
    their_losses, their_state = trained(torch, model_of(torch, theirs, shapes), optimizer, total, change)
    tolerance = TOLERANCE.get(name, 1e-8)
    assert np.isfinite(their_losses).all() or (name, arguments) == ("LPPool1d", "3, 2")  # roots of negative sums
    np.testing.assert_allclose(losses, their_losses, rtol=tolerance, atol=1e-10)
    assert list(state) == list(their_state)
    for key, value in their_state.items():
        np.testing.assert_allclose(state[key], value, rtol=tolerance, atol=10 * tolerance, err_msg=key)


@pytest.mark.parametrize("index", range(len(LAYERS)), ids=ids(LAYERS))
def test_layer(index: int) -> None:
    compare(*LAYERS[index], list(OPTIMIZERS)[index % 2], loss_of)


def as_the_loss_expects(name: str) -> Any:
    """Gradients of log-probabilities are not PyTorch's, those of scores are; probabilities are between 0 and 1."""
    if name == "CTCLoss":
        return lambda tensors: [tensors[0].log_softmax(-1), *tensors[1:]]
    return (lambda tensors: [tensors[0].sigmoid(), *tensors[1:]]) if name == "BCELoss" else list


OF_PROBABILITIES = [("BCELoss", "", [(3, 4), Between((3, 4), 0, 1)])]


@pytest.mark.parametrize(("reduction", "optimizer"), [("mean", "Adam"), ("sum", "SGD")])
@pytest.mark.parametrize("row", LOSSES + OF_PROBABILITIES, ids=ids(LOSSES + OF_PROBABILITIES))
def test_loss(row: Any, reduction: str, optimizer: str) -> None:
    name, arguments, shapes = row
    arguments = f"{arguments}, reduction={reduction!r}".removeprefix(", ")
    compare(name, arguments, shapes, optimizer, lambda b, outputs, step: 0.1 * outputs[0], as_the_loss_expects(name))


def modules_of(b: Any) -> set[str]:
    return {name for name, c in list(vars(b.nn).items()) if inspect.isclass(c) and issubclass(c, b.nn.Module)}


def test_nothing_is_left_out() -> None:
    rows = {name for name, _, _ in LAYERS + LOSSES + OF_PROBABILITIES}
    assert modules_of(torch) - rows == set(NOT_TRAINED)
    assert rows <= modules_of(torch)
    assert {name for name in modules_of(torch) if not hasattr(wg.nn, name)} == {"Container", "DataParallel"}
    assert all("0." in arguments for name, arguments, _ in LAYERS if name in DRAWS)
