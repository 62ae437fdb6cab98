"""Choosing elements, putting others in their place, and sets.

Where NumPy only moves elements (`delete`, `resize`, `compress`), `_moved` lets it move their numbers and takes the
elements by these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor

from ._convert import operand, promoted, tensor, unsupported, written


def _moved(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def move(a: Any, *args: Any, **kwargs: Any) -> Any:
        value = tensor(a)
        numbers = np.arange(value.numel()).reshape(tuple(value.shape))
        return _taken(value, function(numbers, *map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()}))

    return move


def _taken(value: Any, numbers: Any) -> Any:
    return value.reshape(-1)[wengert.as_tensor(np.ascontiguousarray(numbers))]


def _plain(value: Any) -> Any:
    """Return places and counts, which have no derivative, as NumPy takes them."""
    return value.detach().numpy() if isinstance(value, Tensor) else value


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError(f"[numpy.select] {len(condlist)} conditions but {len(choicelist)} choices; give one for each")
    result = operand(default)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = wengert.where(tensor(condition).bool(), *promoted((choice, result)))
    return result


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    value = tensor(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    if isinstance(condlist, (list, tuple)) and condlist and not np.ndim(_plain(condlist[0])) and value.ndim:
        conditions = [condlist]
    conditions = [tensor(condition).bool().broadcast_to(value.shape) for condition in conditions]
    result = wengert.zeros_like(value)
    if len(funclist) == len(conditions) + 1:
        conditions.append(~sum(conditions[1:], conditions[0]))
    if len(funclist) != len(conditions):
        raise ValueError(f"[numpy.piecewise] {len(conditions)} conditions need as many functions, got {len(funclist)}")
    for condition, function in zip(conditions, funclist, strict=True):
        part = function(value[condition], *args, **kw) if callable(function) else operand(function)
        result = result.masked_scatter(condition, (tensor(part).to(value.dtype) + value[condition] * 0))
    return result


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    options = wengert.stack(wengert.broadcast_tensors(*promoted(list(choices))))
    index, options = wengert.broadcast_tensors(tensor(a).long(), options[0])[0], options
    if mode != "raise":
        index = index % len(options) if mode == "wrap" else index.clamp(0, len(options) - 1)
    options = options.expand(len(options), *index.shape)
    return written(wengert.take_along_dim(options, index.unsqueeze(0), 0)[0], out)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    value = tensor(arr).reshape(-1) if axis is None else tensor(arr)
    axis, new = (axis or 0) % max(value.ndim, 1), tensor(values).to(value.dtype)
    places = np.asarray(np.arange(value.shape[axis])[obj] if isinstance(obj, slice) else _plain(obj))
    new = new.reshape([1] * (value.ndim - new.ndim) + list(new.shape))
    if not places.ndim:  # one place takes what lies along the first dimension of the values
        new = new.movedim(0, axis)
        places = np.repeat(places, new.shape[axis])
    moved = np.insert(np.arange(value.shape[axis]), places, -1)
    new = new.broadcast_to([*value.shape[:axis], int((moved < 0).sum()), *value.shape[axis + 1 :]])
    source = np.where(moved < 0, value.shape[axis] + np.cumsum(moved < 0) - 1, moved)
    return wengert.cat([value, new], axis).index_select(axis, wengert.as_tensor(source))


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    value = tensor(a)
    numbers = np.arange(value.numel()).reshape(tuple(value.shape))
    return written(_taken(value, np.compress(_plain(condition), numbers, axis)), out)


def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    value = tensor(a)
    value, axis = (value.reshape(-1), 0) if axis is None else (value, axis)
    places = np.argpartition(_plain(value), kth, axis)
    return wengert.take_along_dim(value, wengert.as_tensor(places), axis)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    value = tensor(filt)
    if value.ndim != 1:
        raise unsupported("numpy.trim_zeros", "it takes vectors alone")
    places = np.nonzero(_plain(value))[0]
    if not len(places):
        return value[:0]
    start = places[0] if "f" in trim.lower() else 0
    return value[start : places[-1] + 1 if "b" in trim.lower() else None]


# --- In place: what is written must be a tensor, or nothing that is written may have a derivative
def _target(name: str, target: Any, source: Any) -> Any:
    if isinstance(target, Tensor):
        return target
    if isinstance(source, Tensor) and source.requires_grad:
        raise unsupported(f"numpy.{name}", "an array cannot hold elements that require grad; write into a tensor")
    return wengert.as_tensor(target)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    target, source = _target("copyto", dst, src), tensor(src)
    if where is True:
        target.copy_(source)
    else:
        target.copy_(wengert.where(tensor(where), source.to(target.dtype), target))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if wrap:
        raise unsupported("numpy.fill_diagonal", "wrap=True has no counterpart")
    target = _target("fill_diagonal", a, val)
    places = tuple(wengert.arange(min(target.shape)) for _ in range(target.ndim))
    target[places] = _repeated(tensor(val), min(target.shape)).to(target.dtype)


def _repeated(values: Any, count: int) -> Any:
    """Return as many values, again from the first one where there are too few."""
    flat = values.reshape(-1)
    return flat[wengert.arange(count) % max(flat.numel(), 1)]


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if mode != "raise":
        raise unsupported("numpy.put", f"mode={mode!r} has no counterpart")
    target, places = _target("put", a, v), tensor(ind).reshape(-1)
    target.put_(places, _repeated(tensor(v), places.numel()).to(target.dtype))


def putmask(a: Any, mask: Any, values: Any) -> None:
    target = _target("putmask", a, values)
    repeated = _repeated(tensor(values), target.numel()).reshape(target.shape).to(target.dtype)
    target.copy_(wengert.where(tensor(mask).bool(), repeated, target))


def place(arr: Any, mask: Any, vals: Any) -> None:
    target, chosen = _target("place", arr, vals), tensor(mask).bool()
    target[chosen] = _repeated(tensor(vals), int(chosen.sum())).to(target.dtype)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    target, places = _target("put_along_axis", arr, values), tensor(indices)
    if axis is None:
        raise unsupported("numpy.put_along_axis", "axis=None has no counterpart; write into arr.view(-1)")
    shape = list(target.shape)
    shape[axis] = places.shape[axis]
    target.scatter_(axis, places.expand(shape), tensor(values).to(target.dtype).broadcast_to(shape))


# --- Sets: their values are elements of the arrays
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
    *, equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    value = tensor(ar)
    found = np.unique(_plain(value), True, True, True, axis, equal_nan=equal_nan)
    index = wengert.as_tensor(found[1])
    values = value.reshape(-1)[index] if axis is None else value.index_select(axis, index)
    wanted = zip((return_index, return_inverse, return_counts), found[1:], strict=True)
    others = tuple(wengert.as_tensor(part) for want, part in wanted if want)
    return (values, *others) if others else values


def _standard(name: str) -> Callable[..., Any]:
    """A function that is one of the array API standard."""
    return lambda x, /: getattr(wengert.array_api, name)(tensor(x))


def _of_sets(name: str) -> Callable[..., Any]:
    """A set of the elements of two arrays; NumPy says which."""
    function = getattr(np, name)

    def combine(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
        both = wengert.cat([value.reshape(-1) for value in promoted((ar1, ar2))])
        options = (assume_unique,) if name != "union1d" else ()
        chosen = function(_plain(tensor(ar1)), _plain(tensor(ar2)), *options)
        first = [int(np.flatnonzero(_plain(both) == element)[0]) for element in chosen]
        return both[wengert.tensor(first, dtype=wengert.int64)]

    return combine


TABLE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (select, piecewise, choose, insert, compress, partition, trim_zeros, copyto, fill_diagonal, put, putmask,
              place, put_along_axis, unique)
}  # fmt: skip
TABLE |= {name: _moved(name) for name in ("delete", "resize", "rollaxis")}
TABLE |= {f"unique_{part}": _standard(f"unique_{part}") for part in ("all", "counts", "inverse", "values")}
TABLE |= {name: _of_sets(name) for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d")}
TABLE |= {
    "extract": lambda condition, arr: tensor(arr).reshape(-1)[tensor(condition).reshape(-1) != 0],
    "unstack": lambda x, /, *, axis=0: tuple(tensor(x).unbind(axis)),
}
