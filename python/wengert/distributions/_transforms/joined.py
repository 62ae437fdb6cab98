"""Transforms of parts of a tensor, and of its shape."""

from __future__ import annotations

import math
from typing import Any

import wengert as wg
from wengert._C import Size

from .. import constraints
from .transform import Transform


class ReshapeTransform(Transform):
    """The map that gives the last dimensions another shape.

    Parameters
    ----------
    in_shape, out_shape : Size
        With as many elements.
    cache_size : int, default 0
    """

    bijective = True
    _equal_if_equal = ("in_shape", "out_shape")

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError(
                f"in_shape {self.in_shape} and out_shape {self.out_shape} have different numbers of elements"
            )

    @property
    def domain(self) -> Any:
        """Arrays of the shape of arguments."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        """Arrays of the shape of results."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape: Any, old: Any, new: Any) -> Any:
    start = len(shape) - len(old)
    if start < 0 or tuple(shape[start:]) != tuple(old):
        raise ValueError(f"the shape is {tuple(shape)}, which does not end in {tuple(old)}")
    return Size((*shape[:start], *new))


class CatTransform(Transform):
    """Transforms of parts of a tensor, one after another along a dimension.

    Parameters
    ----------
    tseq : list of Transform
    dim : int, default 0
    lengths : list of int, optional
        How long the parts are; 1 by default.
    cache_size : int, default 0
    """

    _equal_if_equal = ("transforms", "dim", "lengths")

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"{len(self.transforms)} transforms have {len(self.lengths)} lengths")

    @property
    def event_dim(self) -> int:
        """The largest of the parts."""
        return max(int(t.event_dim) for t in self.transforms)

    @property
    def length(self) -> int:
        """How long the parts are together."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Any) -> Any:
        if value.size(self.dim) != self.length:
            raise ValueError(f"dimension {self.dim} has {value.size(self.dim)} elements, the parts have {self.length}")
        return value.split(self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        return wg.cat([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        return wg.cat([t.inv(part) for t, part in zip(self.transforms, self._parts(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = []
        for t, part, result in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            term = t.log_abs_det_jacobian(part, result)
            terms.append(
                term.sum(tuple(range(t.event_dim - self.event_dim, 0))) if t.event_dim < self.event_dim else term
            )
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        if dim + self.event_dim < 0:
            return wg.cat(terms, dim + self.event_dim)
        total: Any = sum(terms[1:], terms[0])
        return total

    @property
    def bijective(self) -> Any:
        """Whether all parts are."""
        return all(t.bijective for t in self.transforms)

    @property
    def domain(self) -> Any:
        """Those of the parts, one after another."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """Those of the parts, one after another."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Transforms of the slices of a tensor along a dimension.

    Parameters
    ----------
    tseq : list of Transform
    dim : int, default 0
    cache_size : int, default 0
    """

    _equal_if_equal = ("transforms", "dim")

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, value: Any) -> Any:
        if value.size(self.dim) != len(self.transforms):
            raise ValueError(
                f"dimension {self.dim} has {value.size(self.dim)} slices for {len(self.transforms)} transforms"
            )
        return value.unbind(self.dim)

    def _call(self, x: Any) -> Any:
        return wg.stack([t(part) for t, part in zip(self.transforms, self._slices(x), strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        return wg.stack([t.inv(part) for t, part in zip(self.transforms, self._slices(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        slices = zip(self.transforms, self._slices(x), self._slices(y), strict=True)
        terms = [t.log_abs_det_jacobian(part, result) for t, part, result in slices]
        if self.domain.event_dim > max(t.domain.event_dim for t in self.transforms):  # the slices make one variable
            total: Any = sum(terms[1:], terms[0])
            return total
        return wg.stack(terms, self.dim)

    @property
    def bijective(self) -> Any:
        """Whether all parts are."""
        return all(t.bijective for t in self.transforms)

    @property
    def domain(self) -> Any:
        """Those of the slices."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """Those of the slices."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
