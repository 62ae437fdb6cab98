"""Layers and losses of nn in Wengert and in PyTorch: values, gradients, state dicts, how they print."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg

from .nn_rows import LAYERS, LOSSES, Between, Given, Whole

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings(  # of PyTorch
    "ignore:enable_nested_tensor", "ignore:Using padding='same'", "ignore:reduction. 'mean' divides"
)

# PyTorch computes with 1/6 in single precision.
ROUGHLY = {"Hardsigmoid": 1e-7}


def ids(rows: list[tuple[str, str, list[Any]]]) -> list[str]:
    return [f"{name}({arguments})" for name, arguments, _ in rows]


def made(b: Any, name: str, arguments: str) -> Any:
    module = eval(f"nn.{name}({arguments})", {"nn": b.nn, "torch": b})
    return module.double()


def inputs(b: Any, shapes: list[Any]) -> list[Any]:
    generator = np.random.default_rng(0)
    tensors = []
    for shape in shapes:
        if isinstance(shape, Given):
            tensors.append(b.tensor(shape.values))
        elif isinstance(shape, Whole):
            tensors.append(b.tensor(generator.integers(shape.low, shape.high, shape.shape)))
        elif isinstance(shape, Between):
            tensors.append(b.tensor(generator.uniform(shape.low, shape.high, shape.shape), dtype=b.float64))
        else:
            tensors.append(b.tensor(generator.standard_normal(shape), dtype=b.float64, requires_grad=True))
    return tensors


def leaves(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [] if result is None else [result]


def exchange(source: Any, target: Any, b: Any) -> None:
    """Load a state dict from the other library."""
    state = {name: b.tensor(value.numpy()) for name, value in source.state_dict().items()}
    assert list(state) == list(target.state_dict())
    target.load_state_dict(state)


def run(b: Any, module: Any, tensors: list[Any], change: Any = list) -> dict[str, Any]:
    """Results, gradients and the state after a call."""
    outputs = leaves(module(*change(tensors)))
    total = sum((o * o.detach().cos()).sum() for o in outputs if o.requires_grad)
    if isinstance(total, b.Tensor):
        total.backward()
    shown = {f"output {i}": o.detach() for i, o in enumerate(outputs)}
    shown |= {f"input {i}": t.grad for i, t in enumerate(tensors)}
    shown |= {name: p.grad for name, p in module.named_parameters()}
    shown |= {f"buffer {name}": buffer for name, buffer in module.named_buffers()}
    return {key: None if value is None else value.numpy() for key, value in shown.items()}


def assert_same(ours: dict[str, Any], theirs: dict[str, Any], rtol: float = 1e-9) -> None:
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        if value is None:
            assert ours[key] is None, key
        else:
            np.testing.assert_allclose(ours[key], value, rtol=rtol, atol=1e-11, err_msg=key)


@pytest.mark.parametrize("row", LAYERS, ids=ids(LAYERS))
def test_layer(row: Any) -> None:
    name, arguments, shapes = row
    ours, theirs = made(wg, name, arguments), made(torch, name, arguments)
    assert repr(ours) == repr(theirs)
    if name.startswith("Lazy"):  # shapes are known after the first call
        for b, module in ((wg, ours), (torch, theirs)):
            module(*inputs(b, shapes))
        assert repr(ours) == repr(theirs)
    exchange(ours, theirs, torch)
    exchange(theirs, ours, wg)
    for _ in range(2):  # running statistics
        assert_same(
            run(wg, ours, inputs(wg, shapes)), run(torch, theirs, inputs(torch, shapes)), ROUGHLY.get(name, 1e-9)
        )
    ours.eval()
    theirs.eval()
    with wg.no_grad(), torch.no_grad():
        for o, t in zip(leaves(ours(*inputs(wg, shapes))), leaves(theirs(*inputs(torch, shapes))), strict=True):
            np.testing.assert_allclose(o.detach().numpy(), t.detach().numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("row", LOSSES, ids=ids(LOSSES))
def test_loss(row: Any, reduction: str) -> None:
    name, arguments, shapes = row
    arguments = f"{arguments}, reduction={reduction!r}".removeprefix(", ")
    ours, theirs = made(wg, name, arguments), made(torch, name, arguments)
    assert repr(ours) == repr(theirs)
    exchange(theirs, ours, wg)

    def change(
        tensors: list[Any],
    ) -> list[Any]:  # gradients of log-probabilities are not PyTorch's, those of scores are
        return [tensors[0].log_softmax(-1), *tensors[1:]] if name == "CTCLoss" else tensors

    assert_same(run(wg, ours, inputs(wg, shapes), change), run(torch, theirs, inputs(torch, shapes), change))


def test_loss_of_probabilities() -> None:
    for weight in ("", "weight=torch.tensor([0.5, 1., 2., 3.], dtype=torch.float64)"):
        values = []
        for b in (wg, torch):
            x, y = inputs(b, [(3, 4), Between((3, 4), 0, 1)])
            loss = made(b, "BCELoss", weight)(x.sigmoid(), y)
            loss.backward()
            values.append((loss.item(), x.grad.numpy()))
        np.testing.assert_allclose(values[0][0], values[1][0], rtol=1e-12)
        np.testing.assert_allclose(values[0][1], values[1][1], rtol=1e-10)


def test_signatures_of_layers() -> None:
    import inspect

    for name, _, _ in LAYERS + LOSSES:
        if name in ("RNN", "LSTM", "GRU", "LogSigmoid", "LinearCrossEntropyLoss"):
            continue  # PyTorch's say *args
        ours, theirs = (inspect.signature(getattr(b.nn, name)).parameters for b in (wg, torch))
        if name in ("Sigmoid", "Tanh", "Softsign", "Tanhshrink", "SiLU", "Softmax2d", "Sequential"):
            continue
        for key, parameter in theirs.items():
            assert key in ours, (name, key)
            assert ours[key].kind == parameter.kind, (name, key)
            default = ours[key].default
            assert callable(default) or default == parameter.default, (name, key)
        assert [key for key in ours if key in theirs] == list(theirs), name
