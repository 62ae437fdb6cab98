"""A cotangent or tangent that is exactly zero adds nothing, whatever it meets: in each row, each mode, to second order.

Part of one argument (an element, a row, a matrix of a batch) is made NaN, infinite or zero. Results whose values do not
change with that part, whatever it is, are read; the others get the cotangent zero. Then the derivatives must be those
without the poison, and that of the poisoned part exactly zero. What depends on what is found by trying, so nothing is
stated about any row. Samples are stacked to a batch where the row takes one; and each is also tried as a whole that
nobody reads, as a part of a larger program: then all its derivatives are zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import DIFFERENTIABLE, Case, Operation, case
from wengert.autograd import forward_ad, grad

POISONS = (np.nan, np.inf, -np.inf, 0.0)
REFUSED = (RuntimeError, ValueError, IndexError)  # LinAlgError is a RuntimeError

Region = tuple[Any, ...]  # an index


@dataclass
class Poisoned:
    """A case, and what it is with poison in a region of one of its tensors."""

    clean: Case
    poison: Case
    at: int  # the tensor
    region: Region
    read: list[np.ndarray]  # which elements of the results do not depend on the region
    dead: bool = False  # nothing is read

    def __repr__(self) -> str:
        name, i = self.clean.paths[self.at]
        value = self.poison.tensors[self.at].numpy()[self.region].ravel()[0]
        shapes = {n: np.shape(v) if not isinstance(v, list) else v for n, v in self.clean.sample.arguments.items()}
        where = f"{name}{'' if i is None else [i]}[{self.region}]"
        return f"{where} = {value} of {shapes}{', not read' if self.dead else ''}"


# --- What depends on what


def arrays(c: Case) -> list[np.ndarray]:
    return [np.array(t.numpy()) for t in c.tensors]


def with_arrays(c: Case, new: list[np.ndarray]) -> Case:
    values = {n: list(v) if isinstance(v, list) else v for n, v in c.values.items()}
    for (name, i), array in zip(c.paths, new, strict=True):
        if i is None:
            values[name] = wg.tensor(array)
        else:
            values[name][i] = wg.tensor(array)
    return replace(c, values=values)


def results(c: Case) -> list[np.ndarray]:
    with wg.no_grad():
        return [np.array(r.numpy()) for r in c.function(*c.tensors)]


def regions(array: np.ndarray) -> Iterator[Region]:
    """The first slice along each dimension that has more, and the first element."""
    for d in range(array.ndim):
        if array.shape[d] > 1:
            yield (*[slice(None)] * d, 0)
    if array.ndim > 1 and array.size > 1:
        yield (0,) * array.ndim
    if array.ndim == 0:
        yield ()


def written(array: np.ndarray, region: Region, value: Any) -> np.ndarray:
    out = array.copy()
    out[region] = value
    return out


def unchanged(c: Case, at: int, new: np.ndarray, before: list[np.ndarray]) -> tuple[Case, list[np.ndarray]] | None:
    """Which results are the same with another tensor; None if that is refused."""
    everything = arrays(c)
    everything[at] = new
    changed = with_arrays(c, everything)
    try:
        after = results(changed)
    except REFUSED:
        return None
    if [r.shape for r in after] != [r.shape for r in before]:
        return None
    return changed, [a == b for a, b in zip(after, before, strict=True)]


def poisonings(c: Case) -> Iterator[Poisoned]:
    before = results(c)
    for at, array in enumerate(arrays(c)):
        for region in regions(array):
            noise = np.cos(np.arange(array[region].size) + 0.5).reshape(array[region].shape)
            changes = [written(array, region, array[region] + e * noise) for e in (0.05, -0.09)]
            finite = [found[1] for new in changes if (found := unchanged(c, at, new, before))]
            unlike_nan = unchanged(c, at, written(array, region, np.nan), before)
            if unlike_nan is not None:  # a flat place may hide a dependence from small changes
                finite.append(unlike_nan[1])
            for value in POISONS:
                poison = unchanged(c, at, written(array, region, value), before)
                if poison is None or len(finite) < len(changes):
                    continue
                read = [np.logical_and.reduce(each) for each in zip(poison[1], *finite, strict=True)]
                if any(r.any() for r in read):
                    yield Poisoned(c, poison[0], at, region, read)


def unread(c: Case) -> Iterator[Poisoned]:
    """Each tensor poisoned as a whole, in a call that nobody reads."""
    before = results(c)
    for at, array in enumerate(arrays(c)):
        for value in POISONS:
            poison = unchanged(c, at, np.full_like(array, value), before)
            if poison is not None:
                yield Poisoned(c, poison[0], at, (...,), [np.zeros_like(r, bool) for r in before], dead=True)


def stacked(operation: Operation, c: Case) -> Case | None:
    """Two samples side by side along a new first dimension, if the operation then computes each of them."""
    first = arrays(c)
    second = [a + 0.03 * np.sin(np.arange(a.size) + 1.0).reshape(a.shape) for a in first]
    sample = c.sample.arguments
    both = {n: np.stack([v, v]) for n, v in sample.items() if isinstance(v, np.ndarray)}
    if len(c.paths) != sum(isinstance(v, np.ndarray) and v.dtype.kind in "fc" for n, v in sample.items()):
        return None
    try:
        batch = case(operation, replace(c.sample, arguments={**sample, **both}))
        batch = with_arrays(batch, [np.stack(pair) for pair in zip(first, second, strict=True)])
        for got, a, b in zip(results(batch), results(c), results(with_arrays(c, second)), strict=True):
            if got.shape != (2, *a.shape) or not np.allclose(got, np.stack([a, b])):
                return None
    except REFUSED:
        return None
    return batch


def poisoned(operation: Operation) -> Iterator[Poisoned]:
    whole = "zero_rule_within_samples" in operation.exempt
    for sample in operation.samples():
        c = case(operation, sample)
        if not c.paths:
            continue
        yield from unread(c)
        batch = stacked(operation, c)
        for each, is_batch in ((c, False), (batch, True)):
            if each is not None:
                yield from (p for p in poisonings(each) if not whole or (is_batch and p.region == (0,)))


# --- Derivatives of what is read


def weights(array: np.ndarray, phase: float) -> np.ndarray:
    angles = np.arange(array.size).reshape(array.shape) * 0.8 + phase
    return np.asarray(np.cos(angles) + (1j * np.sin(angles) if array.dtype.kind == "c" else 0)).astype(array.dtype)


def directions(p: Poisoned) -> list[Any]:
    made = [weights(a, 0.4 + i) for i, a in enumerate(arrays(p.clean))]
    if not p.dead:
        made[p.at] = written(made[p.at], p.region, 0)
    return [wg.tensor(v) for v in made]


def outputs(p: Poisoned, c: Case, xs: list[Any]) -> list[tuple[Any, Any]]:
    """The results that derivatives flow from, each with its cotangent."""
    found = []
    for k, (y, read) in enumerate(zip(c.function(*xs), p.read, strict=True)):
        if y.dtype.is_floating_point or y.dtype.is_complex:
            cotangent = weights(np.zeros(read.shape, y.detach().numpy().dtype), k + 0.3)
            found.append((y, wg.tensor(np.where(read, cotangent, 0))))
    return found


def gradients(pairs: list[tuple[Any, Any]], xs: list[Any], *, create_graph: bool = False) -> list[Any]:
    pairs = [(y, u) for y, u in pairs if y.requires_grad]
    if not pairs:
        return [wg.zeros_like(x) for x in xs]
    ys, us = zip(*pairs, strict=True)
    return list(grad(ys, xs, us, create_graph=create_graph, allow_unused=True, materialize_grads=True))


def inner(pairs: list[tuple[Any, Any]]) -> Any:
    products = [a.conj() * b for a, b in pairs]
    return sum(((p.real if p.dtype.is_complex else p).sum() for p in products), wg.zeros((), dtype=wg.float64))


def tangent(value: Any, like: Any) -> Any:
    t = forward_ad.unpack_dual(value).tangent
    return wg.zeros_like(like) if t is None else t


def reverse(p: Poisoned, c: Case) -> list[Any]:
    xs = c.leaves()
    return gradients(outputs(p, c, xs), xs)


def forward(p: Poisoned, c: Case) -> list[Any]:
    with forward_ad.dual_level():
        if p.dead:  # nothing varies
            xs = [forward_ad.make_dual(x, wg.zeros_like(x)) for x in c.tensors]
            return [tangent(y, y) for y, _ in outputs(p, c, xs)]
        xs = [forward_ad.make_dual(x, t) for x, t in zip(c.tensors, directions(p), strict=True)]
        return [wg.where(u == 0, 0, tangent(y, y)) for y, u in outputs(p, c, xs)]


def reverse_over_reverse(p: Poisoned, c: Case) -> list[Any]:
    xs = c.leaves()
    gs = gradients(outputs(p, c, xs), xs, create_graph=True)
    product = inner(list(zip(directions(p), gs, strict=True)))
    return gradients([(product, wg.ones_like(product))], xs)


def forward_over_reverse(p: Poisoned, c: Case) -> list[Any]:
    xs = c.leaves()
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(xs, directions(p), strict=True)]
        return [
            tangent(g, x) for g, x in zip(gradients(outputs(p, c, duals), duals, create_graph=True), xs, strict=True)
        ]


def reverse_over_forward(p: Poisoned, c: Case) -> list[Any]:
    xs = c.leaves()
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(xs, directions(p), strict=True)]
        product = inner([(u, tangent(y, y)) for y, u in outputs(p, c, duals)])
        return gradients([(product, wg.ones_like(product))], xs)


MODES = {f.__name__: f for f in (reverse, forward, reverse_over_reverse, forward_over_reverse, reverse_over_forward)}


def disagreement(p: Poisoned, mode: str) -> str | None:
    want, got = ([np.asarray(t.detach().numpy()) for t in MODES[mode](p, c)] for c in (p.clean, p.poison))
    for i, (w, g) in enumerate(zip(want, got, strict=True)):
        if mode != "forward" and i == p.at and np.any(g[p.region] != 0):
            return f"{p}: {mode}: the poisoned part gets {g[p.region]}"
        if not np.allclose(g, w, rtol=1e-9, atol=1e-11):
            return f"{p}: {mode}: {g} instead of {w}"
    return None


@pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=repr)
def test_zero_adds_nothing(operation: Operation) -> None:
    operation.unless_exempt("zero_rule")
    faults = [disagreement(p, mode) for p in poisoned(operation) for mode in MODES]
    found = [fault for fault in faults if fault]
    assert faults, f"{operation}: no sample can be poisoned"
    assert not found, f"{len(found)} faults in {len(faults)} tries, as\n" + "\n".join(found[:5])
