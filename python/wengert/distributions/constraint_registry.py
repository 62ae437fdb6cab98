"""Which transform leads from all numbers to a region: `biject_to` and `transform_to`.

`biject_to` gives bijections, with a determinant of the Jacobian: for samplers on unconstrained variables.
`transform_to` gives maps that may be cheaper or have more arguments than results: for optimizers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints
from ._constraints import numbers as _numbers
from ._constraints.arrays import CorrCholesky, LowerCholesky, PositiveDefinite, PositiveSemidefinite, Simplex
from ._transforms.arrays import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from ._transforms.composed import ComposeTransform, IndependentTransform, identity_transform
from ._transforms.elementwise import AffineTransform, ExpTransform, SigmoidTransform
from ._transforms.joined import CatTransform, StackTransform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Maps constraints to transforms, by the class of the constraint.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.distributions import constraints, transform_to
    >>> transform_to(constraints.interval(2.0, 4.0))(wg.tensor([0.0]))
    tensor([3.])
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Say which transform a class of constraints has.

        Parameters
        ----------
        constraint : type or Constraint
        factory : callable, optional
            From a constraint to a transform; without one, this is a decorator for it.
        """
        if factory is None:
            return lambda function: self.register(constraint, function)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """Return the transform onto a region."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints; register() says how")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _affine(loc: Any, scale: Any, *after: Any) -> Any:
    same = isinstance(loc, (int, float)) and isinstance(scale, (int, float)) and (loc, scale) == (0, 1)
    return after[0] if same else ComposeTransform([*after, AffineTransform(loc, scale)])


def _between(c: Any) -> Any:
    return _affine(c.lower_bound, c.upper_bound - c.lower_bound, SigmoidTransform())


def _register_common(registry: ConstraintRegistry) -> None:
    """Register what the two registries have in common."""

    def above(c: Any) -> Any:
        return _affine(c.lower_bound, 1, ExpTransform())

    registry.register(_numbers.Real, lambda c: identity_transform)
    registry.register(_numbers.GreaterThan, above)
    registry.register(_numbers.GreaterThanEq, above)
    registry.register(_numbers.LessThan, lambda c: _affine(c.upper_bound, -1, ExpTransform()))
    registry.register(_numbers.Interval, _between)
    registry.register(_numbers.HalfOpenInterval, _between)
    registry.register(
        constraints.independent,
        lambda c: IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    registry.register(constraints.cat, lambda c: CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths))
    registry.register(constraints.stack, lambda c: StackTransform([registry(part) for part in c.cseq], c.dim))
    registry.register(CorrCholesky, lambda c: CorrCholeskyTransform())


_register_common(biject_to)
_register_common(transform_to)
biject_to.register(Simplex, lambda c: StickBreakingTransform())
transform_to.register(Simplex, lambda c: SoftmaxTransform())
transform_to.register(LowerCholesky, lambda c: LowerCholeskyTransform())
transform_to.register(PositiveDefinite, lambda c: PositiveDefiniteTransform())
transform_to.register(PositiveSemidefinite, lambda c: PositiveDefiniteTransform())
