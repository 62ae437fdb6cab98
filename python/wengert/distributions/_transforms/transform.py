"""What all transforms share: domain and codomain, the inverse, the last result kept."""

from __future__ import annotations

import copy
import weakref
from typing import Any, Self

import wengert as wg
from wengert._C import Size, Tensor

from .._constraints.constraint import Constraint


class Transform:
    """Base class of maps whose inverse and whose logarithm of the determinant of the Jacobian are known.

    A transform defines ``_call(x)``, ``_inverse(y)`` and `log_abs_det_jacobian`.

    Parameters
    ----------
    cache_size : int, default 0
        With 1, the last pair of argument and result is kept: then ``t.inv(t(x)) is x``, for transforms whose inverse
        is expensive or loses digits.

    Attributes
    ----------
    domain, codomain : Constraint
        What arguments and results may be.
    bijective : bool
        Whether ``t(t.inv(y)) == y`` and ``t.inv(t(x)) == x``.
    sign : int or Tensor
        1 for an increasing function of a number, -1 for a decreasing one.

    Examples
    --------
    >>> import wengert as wg
    >>> t = wg.distributions.transforms.ExpTransform()
    >>> x = wg.tensor([0.0, 1.0])
    >>> t(x), t.log_abs_det_jacobian(x, t(x))
    (tensor([1.0000, 2.7183]), tensor([0., 1.]))
    """

    bijective: Any = False
    domain: Any = None
    codomain: Any = None
    _equal_if_equal: tuple[str, ...] | None = None  # attributes that make two of one type equal; None: never

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, but is {cache_size}")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        """How many dimensions make one variable, where it is as many in arguments and results."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim: they differ")
        return int(self.domain.event_dim)

    @property
    def inv(self) -> Transform:
        """The inverse."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = InverseTransform(self)
            self._inv = weakref.ref(inverse)
        result: Transform = inverse
        return result

    @property
    def sign(self) -> Any:
        """1 if the transform is increasing, -1 if it is decreasing."""
        raise NotImplementedError(f"{type(self).__name__} is not monotone")

    def with_cache(self, cache_size: int = 1) -> Self:
        """Return the same transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        new = copy.copy(self)
        Transform.__init__(new, cache_size)
        return new

    def __call__(self, x: Any) -> Any:
        """Return the value at `x`."""
        if self._cache_size == 0:
            return self._call(x)
        old_x, old_y = self._cached
        if x is old_x:
            return old_y
        y = self._call(x)
        self._cached = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        old_x, old_y = self._cached
        if y is old_y:
            return old_x
        x = self._inverse(y)
        self._cached = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define _call()")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the absolute determinant of dy/dx, for each element of the batch."""
        raise NotImplementedError(f"{type(self).__name__} has no determinant")

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of results for arguments of a shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of arguments for results of a shape."""
        return shape

    def __eq__(self, other: object) -> bool:
        if self is other or self._equal_if_equal is None or type(self) is not type(other):
            return self is other
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._equal_if_equal)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class InverseTransform(Transform):
    """The inverse of a transform; made by ``t.inv``."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._forward = transform

    @property
    def domain(self) -> Constraint:
        """The codomain of the transform."""
        result: Constraint = self._forward.codomain
        return result

    @property
    def codomain(self) -> Constraint:
        """The domain of the transform."""
        result: Constraint = self._forward.domain
        return result

    @property
    def bijective(self) -> Any:
        """As the transform."""
        return self._forward.bijective

    @property
    def sign(self) -> Any:
        """As the transform."""
        return self._forward.sign

    @property
    def inv(self) -> Transform:
        """The transform."""
        return self._forward

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._forward.with_cache(cache_size).inv

    def __call__(self, x: Any) -> Any:
        return self._forward._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._forward(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._forward.forward_shape(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InverseTransform) and self._forward == other._forward

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._forward!r})"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        a, b = wg.as_tensor(a), wg.as_tensor(b)
        return bool((a == b).all()) if a.shape == b.shape else False
    return bool(a == b)


def broadcast_shape(shape: Any, *parameters: Any) -> Size:
    """Return a shape broadcast with those of parameters."""
    return Size(wg.broadcast_shapes(shape, *[getattr(p, "shape", ()) for p in parameters]))
