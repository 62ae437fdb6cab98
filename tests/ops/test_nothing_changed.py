"""A write that raises has changed nothing: values, geometry, version and history of every argument are as before.

For every row with an in-place or `out=` form, its samples are spoilt one argument at a time; whatever raises then is
held to the property.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import OPERATIONS, Operation, case

HUGE = 2**62


def snapshot(value: Any) -> Any:
    """All that can be seen of an argument."""
    if isinstance(value, (list, tuple)):
        return [snapshot(v) for v in value]
    if not isinstance(value, wg.Tensor):
        return None
    with wg.no_grad():
        values = np.array(value.detach().numpy()).tobytes()
    inference = value.is_inference()
    return (
        values, value.shape, value.stride(), value.storage_offset(), value.dtype, value.data_ptr(), value.requires_grad,
        value.grad_fn if value.requires_grad and not inference else None, None if inference else value._version,
    )  # fmt: skip


def read_only_inference(t: Any) -> Any:
    with wg.inference_mode():
        return t.clone()


def leaf(t: Any) -> Any:
    return t.detach().clone().requires_grad_() if t.is_floating_point() or t.is_complex() else t


def part_of_leaf(t: Any) -> Any:
    return wg.stack([t, t]).requires_grad_()[0] if t.is_floating_point() or t.is_complex() else t


def overlapping(t: Any) -> Any:
    return t.reshape(-1)[:1].expand(t.numel()).view(t.shape) if t.numel() > 1 else t


TARGETS: dict[str, Callable[[Any], Any]] = {
    "inference": read_only_inference,
    "leaf": leaf,
    "part of a leaf": part_of_leaf,
    "overlapping": overlapping,
}
TENSORS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda t: t.real.bool() if t.is_complex() else t.bool(),
    "int64": lambda t: (t.real if t.is_complex() else t).to(wg.int64),
    "float32": lambda t: (t.real if t.is_complex() else t).to(wg.float32),
    "complex": lambda t: t.to(wg.complex128),
    "longer": lambda t: wg.cat([t, t], dim=-1) if t.dim() else t.expand(3),
    "taller": lambda t: wg.cat([t, t], dim=0) if t.dim() else t.expand(2, 2),
    "empty": lambda t: t[:0] if t.dim() else t.expand(0),
    "flat": lambda t: t.reshape(-1),
    "deeper": lambda t: wg.stack([t, t, t]),
    "zeros": wg.zeros_like,
    "huge": lambda t: wg.full_like(t, 1e30 if t.is_floating_point() else HUGE if t.dtype == wg.int64 else 1),
    "negative": lambda t: wg.full_like(t, -HUGE) if t.dtype == wg.int64 else t if t.dtype == wg.bool else -abs(t),
    "last wrong": lambda t: wg.cat([t.reshape(-1)[:-1], wg.full((1,), HUGE, dtype=t.dtype)]).reshape(t.shape)
    if t.dtype == wg.int64 and t.numel()
    else t,
}  # fmt: skip


def spoilt(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, wg.Tensor):
        for name, change in TENSORS.items():
            yield name, change(value)
    elif isinstance(value, bool):
        yield "flipped", not value
    elif isinstance(value, int):
        yield from ((str(i), i) for i in (0, -1, 99, -99))
    elif isinstance(value, float):
        yield from ((str(f), f) for f in (-1.0, 0.0, float("nan"), float("inf")))
    elif isinstance(value, str):
        yield "no such word", "no such word"
    elif isinstance(value, (list, tuple)) and value:
        yield "shorter", value[:-1]
        yield "longer", [*value, value[-1]]
        for name, last in spoilt(value[-1]):
            yield f"last {name}", [*value[:-1], last]


def calls(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments of which one is spoilt."""
    for sample in operation.samples()[:2]:
        values = case(operation, sample).values
        yield "sound", dict(values)
        for argument in operation.arguments:
            name = argument["name"]
            if values.get(name) is None and argument["type"].startswith("str"):
                yield f"{name}: no such word", {**values, name: "no such word"}
            elif values.get(name) is None and argument["type"] in ("int", "int?"):
                yield f"{name}: 99", {**values, name: 99}
            for how, wrong in spoilt(values.get(name)):
                yield f"{name}: {how}", {**values, name: wrong}


def hold(what: str, call: Callable[[], Any], arguments: list[Any]) -> bool:
    """Whether `call` raised; if so, nothing has changed."""
    before, raised = snapshot(arguments), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except Exception as error:
        raised = repr(error)
    assert raised is None or snapshot(arguments) == before, f"{what}: changed by what raised {raised}"
    return raised is not None


def own(values: dict[str, Any]) -> dict[str, Any]:
    """With copies of the tensors, so that no call sees what an earlier one did."""
    return {
        n: v.detach().clone() if isinstance(v, wg.Tensor) and not v.is_inference() else v for n, v in values.items()
    }


WRITTEN = [o for o in OPERATIONS if (o.inplace or o.writes_only) and "method" in o.methods]


def in_place(operation: Operation) -> Callable[..., Any]:
    return getattr(wg.Tensor, operation.python["name"] + ("" if operation.writes_only else "_"))


@pytest.mark.parametrize("operation", WRITTEN, ids=repr)
def test_in_place(operation: Operation) -> None:
    raised = 0
    first, method = operation.arguments[0]["name"], in_place(operation)
    for how, values in calls(operation):
        if not isinstance(values.get(first), wg.Tensor):
            continue
        targets = TARGETS if how == "sound" else {"": lambda t: t, "recorded": lambda t: leaf(t) * 1}
        for kind, make in targets.items():
            given = own(values)
            with contextlib.suppress(RuntimeError):
                given[first] = make(given[first])
            positional, keywords = operation.split(given)
            raised += hold(
                f"{operation} {kind} {how}",
                lambda m=method, p=positional, k=keywords: m(*p, **k),
                [*positional, *keywords.values()],
            )
    assert raised


def wrong_outputs(expected: Any) -> Iterator[tuple[str, Any]]:
    like = wg.ones_like(expected)
    yield "right", like
    yield "short", wg.ones(1, dtype=expected.dtype)
    yield "small dtype", wg.ones(expected.shape, dtype=wg.bool if expected.dtype != wg.bool else wg.float32)
    yield "small dtype and shape", wg.ones(1, dtype=wg.bool)
    yield "int8", wg.ones(1, dtype=wg.int8)
    for name, make in TARGETS.items():
        yield name, make(like)


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.out], ids=repr)
def test_out(operation: Operation) -> None:
    raised = 0
    for how, values in calls(operation):
        expected = None
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = operation(own(values))
        for kind, out in wrong_outputs(expected if isinstance(expected, wg.Tensor) else wg.ones(2)):
            positional, keywords = operation.split(own(values))
            raised += hold(
                f"{operation} {kind} {how}",
                lambda p=positional, k=keywords, o=out: operation.function(*p, **k, out=o),
                [out, *positional, *keywords.values()],
            )
    assert raised


OF_ONE_RESULT = [o for o in OPERATIONS if o.out and not o.view and len(o.entry["results"]) == 1]


@pytest.mark.parametrize("operation", OF_ONE_RESULT, ids=repr)
def test_out_that_is_an_operand(operation: Operation) -> None:
    """It keeps its shape or is refused, and is never resized under what is read from it."""
    for sample in operation.samples():
        c = case(operation, sample)
        for name, value in c.values.items():
            if not isinstance(value, wg.Tensor):
                continue
            given = own(c.values)
            expected = operation(given)
            positional, keywords = operation.split(given)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    operation.function(*positional, **keywords, out=given[name])
                except RuntimeError:
                    continue
            np.testing.assert_array_equal(given[name].numpy(), expected.to(given[name].dtype).numpy())


# --- Writes that are no rows

BY_HAND: dict[str, Callable[[Any], Any]] = {
    "uniform_": lambda x: x.uniform_(5, 1),
    "normal_": lambda x: x.normal_(0, -1),
    "random_": lambda x: x.random_(5, 1),
    "log_normal_": lambda x: x.log_normal_(0, -1),
    "cauchy_": lambda x: x.cauchy_(0, -1),
    "exponential_": lambda x: x.exponential_(-1),
    "geometric_": lambda x: x.geometric_(2),
    "bernoulli_": lambda x: x.bernoulli_(2),
    "bernoulli_ of probabilities": lambda x: x.bernoulli_(wg.tensor([[0.5, 3.0], [0.5, 0.5]])),
    "bernoulli_ of a shape": lambda x: x.bernoulli_(wg.ones(7) / 2),
    "index": lambda x: x.__setitem__(5, 1.0),
    "value": lambda x: x.__setitem__(0, wg.ones(3)),
    "value of no number": lambda x: x.__setitem__(0, "a"),
    "mask": lambda x: x.__setitem__(wg.tensor([True, False, True]), 1.0),
    "list": lambda x: x.__setitem__([0, 9], 1.0),
    "last of the list": lambda x: x.__setitem__(([0, 1], [0, 9]), wg.ones(2)),
    "resize_": lambda x: x.resize_(-1),
    "resize_ beyond memory": lambda x: x.resize_(2**40, 2**20),
    "set_": lambda x: x.set_(wg.ones(2, dtype=wg.int64)),
    "copy_": lambda x: x.copy_(wg.ones(3)),
    "unsqueeze_": lambda x: x.unsqueeze_(7),
    "true divide": lambda x: x.__itruediv__(wg.ones(3)),
    "matmul": lambda x: x.__imatmul__(wg.ones(3)),
    "set data": lambda x: setattr(x, "data", 3),
    "set grad": lambda x: setattr(x, "grad", wg.ones(3)),
}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("kind", ["plain", "recorded", "strided"])
def test_write_by_hand(name: str, kind: str) -> None:
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    x = {"plain": lambda: x, "recorded": lambda: x.requires_grad_() * 2, "strided": lambda: x.t()}[kind]()
    state = wg.get_rng_state()
    assert hold(name, lambda: BY_HAND[name](x), [x])
    assert (wg.get_rng_state() == state).all() or "probabilities" in name


@pytest.mark.parametrize("name", ["uniform_", "normal_", "random_", "bernoulli_", "exponential_", "geometric_"])
def test_fill_of_what_may_not_be_written(name: str) -> None:
    for make in TARGETS.values():
        x = make(wg.ones(2, 2))
        arguments = (0.5,) if name == "geometric_" else ()
        assert hold(name, lambda x=x, a=arguments: getattr(x, name)(*a), [x])


@pytest.mark.parametrize("divide", ["floor_divide_", "remainder_", "fmod_", "__ifloordiv__", "__imod__"])
def test_integers_divided_by_zero(divide: str) -> None:
    x = wg.tensor([7, 8, 9])
    assert hold(divide, lambda: getattr(x, divide)(wg.tensor([2, 2, 0])), [x])
    assert hold(divide, lambda: getattr(x[::2], divide)(wg.tensor([2, 0])), [x])


def statistics(**spoilt: Any) -> dict[str, Any]:
    return {"running_mean": wg.ones(3), "running_var": wg.ones(3), **spoilt}


@pytest.mark.parametrize("norm", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"running_var": wg.ones(4)},
        {"running_var": wg.ones(3, 1)},
        {"running_var": wg.ones(())},
        {"running_var": wg.ones(3, dtype=wg.int64)},
        {"running_var": wg.ones(1).expand(3)},
        {"running_var": read_only_inference(wg.ones(3))},
        {"weight": wg.ones(2)},
        {"bias": wg.ones(3, 3)},
        {"momentum": "a"},
    ],
    ids=repr,
)
def test_running_statistics(norm: str, wrong: dict[str, Any]) -> None:
    x, given = wg.rand(4, 3, 5), statistics(**wrong)
    training = {"training": True} if norm == "batch_norm" else {}
    function = getattr(wg.nn.functional, norm)
    assert hold(norm, lambda: function(x, **given, **training), list(given.values()))
