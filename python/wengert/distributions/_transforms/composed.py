"""Transforms made of others: one after another, or on more dimensions."""

from __future__ import annotations

from typing import Any

from .. import constraints
from .._base.parameters import sum_rightmost
from .transform import Transform


class ComposeTransform(Transform):
    """Transforms one after another, the first in the list first.

    Parameters
    ----------
    parts : list of Transform
    cache_size : int, default 0
        The parts have caches of this size.
    """

    _equal_if_equal = ("parts",)

    def __init__(self, parts: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    @property
    def domain(self) -> Any:
        """That of the first part, for variables of as many dimensions as any part needs."""
        if not self.parts:
            return constraints.real
        return _raised(self.parts[0].domain, self._domain_dim())

    @property
    def codomain(self) -> Any:
        """That of the last part, for variables of as many dimensions as any part makes."""
        if not self.parts:
            return constraints.real
        dim = self._domain_dim() + sum(p.codomain.event_dim - p.domain.event_dim for p in self.parts)
        return _raised(self.parts[-1].codomain, dim)

    def _domain_dim(self) -> int:
        """Return of how many dimensions a variable must be so that each part gets as many as it needs."""
        dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dim = max(dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return int(dim)

    @property
    def bijective(self) -> Any:
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        """The product of those of the parts."""
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return x.new_zeros(x.shape)
        dim = self.domain.event_dim
        total: Any = 0
        for part, argument, result in zip(self.parts, *self._steps(x, y), strict=True):
            term = part.log_abs_det_jacobian(argument, result)
            total = total + sum_rightmost(term, dim - part.domain.event_dim)
            dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def _steps(self, x: Any, y: Any) -> tuple[list[Any], list[Any]]:
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        return values, [*values[1:], y]

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.parts})"


class IndependentTransform(Transform):
    """A transform of variables of more dimensions, each of whose elements is transformed on its own.

    Parameters
    ----------
    base_transform : Transform
    reinterpreted_batch_ndims : int
        How many dimensions are added to a variable.
    cache_size : int, default 0
    """

    _equal_if_equal = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @property
    def domain(self) -> Any:
        """That of the base, for more dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        """That of the base, for more dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        """As the base."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """As the base."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError(f"Too few dimensions on input: {x.dim()}, at least {self.domain.event_dim} are needed")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError(f"Too few dimensions on input: {y.dim()}, at least {self.codomain.event_dim} are needed")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


def _raised(constraint: Any, dim: int) -> Any:
    """Return a constraint for variables of `dim` dimensions."""
    return (
        constraint if constraint.event_dim == dim else constraints.independent(constraint, dim - constraint.event_dim)
    )


identity_transform = ComposeTransform([])
