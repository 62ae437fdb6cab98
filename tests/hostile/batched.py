"""Calls of everything with samples of a batch where tensors may stand, compared with the same calls in a loop.

A sample has the geometry of the first one, so code that overlooks the batch would take the first sample's elements for
those of all. Every case makes its arguments once for each sample, calls, and calls again inside vmap: the second call
must raise or give what the first ones gave together, in results and in whatever it wrote.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.autograd._boxes import unboxed

SIZE = 3
EVERYTHING = 4
# Each makes the tensor of one sample; samples differ everywhere.
KINDS: dict[str, Callable[[int], Any]] = {
    "number": lambda i: wg.tensor(0.5 + i),
    "vector": lambda i: wg.tensor([0.25, 1.5, 2.0]) + 2 * i,
    "matrix": lambda i: wg.tensor([[2.0, 0.5, 0.25], [0.5, 3.0, 0.75], [0.25, 0.75, 4.0]]) * (1 + i),
    "integer": lambda i: wg.tensor((2, 0, 1)[i]),
    "indices": lambda i: wg.tensor([[0, 1, 2], [1, 2, 0], [2, 0, 1]][i]),
    "bit": lambda i: wg.tensor((True, False, True)[i]),
    "mask": lambda i: wg.tensor([[True, False, True], [False, True, True], [True, True, False]][i]),
    "complex": lambda i: wg.tensor([0.5 + 1j, 1.5 - 2j, 2j]) + i,
}
PLAIN = {name: make(0) for name, make in KINDS.items()}
# B is a sample of a batch, S a tensor that all samples share, both of the same kind; M is a shared matrix.
B, S, M = "B", "S", "M"
PATTERNS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((B,), {}), ((B, B), {}), ((B, S), {}), ((S, B), {}), ((B, 1), {}), ((B, 0), {}), ((B, 0.5), {}), ((2, B), {}),
    ((0.5, B), {}), ((M, B), {}), ((B, M), {}), (([B, S],), {}), (([S, B],), {}), (((B, B),), {}), ((S, [B]), {}),
    ((M, [B, S]), {}), ((M, (B, B)), {}), ((B, [S]), {}), ((M, [[B, S], [S, B]]), {}), ((B, "sum"), {}),
    ((B, None), {}), ((B, wg.float64), {}), ((wg.Tensor, B), {}), ((B, wg.Tensor), {}), ((M, 0, B), {}),
    ((B, 0, 1), {}), ((B, 1, S), {}), ((S, S, B), {}), ((S, B, S), {}), ((B, B, B), {}), ((B, S, 1), {}),
    ((M, B, B), {}), ((M, B, 1.0), {}), ((M, 1, B), {}), ((M, 0, 0, B), {}), ((M, (0, B), S), {}), ((B, [0]), {}),
    ((B, slice(1)), {}), ((B, ...), {}), ((S, S, S, B), {}), ((S, S, S, S, B), {}), ((B, (3,)), {}), (((3,), B), {}),
    ((S,), {"out": B}), ((S, S), {"out": B}), ((S,), {"dim": B}), ((M,), {"axis": B}), ((B,), {"dtype": wg.float64}),
    (((B, B),), {"dim": 0}), ((S,), {"other": B}), ((), {"input": B}), ((), {"self": B}), ((), {"data": B}),
    ((3,), {"fill_value": B}), ((S,), {"value": B}), ((S, S), {"alpha": B}), ((S, S), {"weight": B}),
    ((B, {"a": B}), {}), (({"a": B},), {}),
]  # fmt: skip


# --- One call
def fill(value: Any, kind: str, tensor: Any) -> Any:
    if value is B:
        return tensor
    if value is S:
        return PLAIN[kind].clone()
    if value is M:
        return PLAIN["matrix"].clone()
    if isinstance(value, (list, tuple)):
        return type(value)(fill(v, kind, tensor) for v in value)
    if isinstance(value, dict):
        return {k: fill(v, kind, tensor) for k, v in value.items()}
    return value


def call(function: Any, arguments: Any) -> Any:
    args, kwargs = arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = unboxed(function(*args, **kwargs))
        if isinstance(result, np.ndarray) and result.dtype == object:
            return result.tolist()
        return list(result) if hasattr(result, "__next__") else result


def of_loop(function: Any, kind: str, pattern: Any) -> list[Any]:
    """What each sample gives, with its arguments afterwards."""
    outcomes = []
    for i in range(SIZE):
        arguments = fill(pattern, kind, KINDS[kind](i))
        try:
            outcomes.append((call(function, arguments), arguments))
        except Exception as error:
            outcomes.append(error)
    return outcomes


def differences(name: str, function: Callable[..., Any], seed: int) -> list[str]:
    """Return what differs in some of the cases of a function; `EVERYTHING` seeds in a row try all of them."""
    found = []
    for number, pattern in enumerate(PATTERNS):
        start = (zlib.crc32(name.encode()) + number + seed) % EVERYTHING
        for kind in list(KINDS)[start::EVERYTHING]:
            if difference_found := difference(function, kind, pattern):
                found.append(f"{name} {kind} {pattern}: {difference_found}")
    return found


def difference(function: Any, kind: str, pattern: Any) -> str | None:
    """Return how the call inside vmap differs, without raising, from those of a loop."""
    shapes: list[Any] = []

    def inside(sample: Any) -> list[Any]:
        arguments = fill(pattern, kind, sample)
        tensors = [sample]
        shapes.append(without_tensors((call(function, arguments), arguments), tensors))
        return tensors

    batch = wg.stack([KINDS[kind](i) for i in range(SIZE)])
    try:
        tensors = wg.func.vmap(inside)(batch)
    except Exception:
        return None
    loop = of_loop(function, kind, pattern)
    for i, one in enumerate(loop):
        if isinstance(one, Exception):
            return f"sample {i} raises {one!r:.90}, the batch gives {shown(shapes[0][0])}"
    return compare(with_tensors(shapes[0], [tensor.detach() for tensor in tensors]), loop)


class Samples:
    """All samples of a tensor."""

    def __init__(self, place: int, values: Any = None) -> None:
        self.place, self.values = place, values

    def __repr__(self) -> str:
        return f"samples {self.values!r}"


def without_tensors(value: Any, tensors: list[Any]) -> Any:
    """Return what holds places of tensors instead of tensors."""
    if isinstance(value, wg.Tensor):
        tensors.append(value)
        return Samples(len(tensors) - 1)
    if isinstance(value, (list, tuple)) and not isinstance(value, wg.Size):
        return [without_tensors(v, tensors) for v in value]
    if isinstance(value, dict):
        return {k: without_tensors(v, tensors) for k, v in value.items()}
    return value


def with_tensors(value: Any, tensors: list[Any]) -> Any:
    if isinstance(value, Samples):
        return Samples(value.place, tensors[value.place])
    if isinstance(value, list):
        return [with_tensors(v, tensors) for v in value]
    if isinstance(value, dict):
        return {k: with_tensors(v, tensors) for k, v in value.items()}
    return value


def compare(outcome: Any, loop: list[Any]) -> str | None:
    if isinstance(outcome, Samples):
        if all(isinstance(one, (np.ndarray, np.generic)) for one in loop):  # of compat.autograd, in a box inside vmap
            loop = [wg.tensor(one) for one in loop]
        if not all(isinstance(one, wg.Tensor) for one in loop):
            return f"{shown(outcome)} for {shown(loop)}"
        if any(one.shape != loop[0].shape for one in loop):
            return f"{outcome} for different shapes"
        return different(outcome.values, wg.stack([one.detach() for one in loop]))
    if isinstance(outcome, (list, tuple)):
        if any(not isinstance(one, (list, tuple)) or len(one) != len(outcome) for one in loop):
            return f"{shown(outcome)} for {shown(loop)}"
        columns = zip(outcome, zip(*loop, strict=True), strict=True)
        return next((d for item, column in columns if (d := compare(item, list(column)))), None)
    if isinstance(outcome, dict):
        if any(not isinstance(one, dict) or one.keys() != outcome.keys() for one in loop):
            return f"{shown(outcome)} for {shown(loop)}"
        return next((d for k, item in outcome.items() if (d := compare(item, [one[k] for one in loop]))), None)
    if any(type(one) is not type(outcome) for one in loop):
        return f"{shown(outcome)} for {shown(loop)}"
    if isinstance(outcome, str) and "BatchedTensor(" in outcome:  # shows all samples
        return None
    if not isinstance(outcome, VALUES) or all(is_equal(one, outcome) for one in loop):
        return None  # what is no value holds what it was given
    return f"{shown(outcome)} for {shown(loop)}"


VALUES = (type(None), bool, int, float, complex, str, bytes, wg.Size, wg.dtype, wg.device, np.ndarray, np.generic)


def shown(value: Any) -> str:
    try:
        return f"{value!r:.200}"
    except Exception as error:
        return f"what shows as {error!r:.100}"


def is_equal(one: Any, other: Any) -> bool:
    try:
        return bool(np.all(one == other))
    except Exception:
        return False


def different(found: Any, wanted: Any) -> str | None:
    if not isinstance(wanted, wg.Tensor):
        return f"{found!r} for {wanted!r}"
    wanted = wanted.detach()
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{tuple(found.shape)} {found.dtype} for {tuple(wanted.shape)} {wanted.dtype}"
    return (
        None
        if np.allclose(found.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5, equal_nan=True)
        else f"{found.tolist()} for {wanted.tolist()}"
    )
