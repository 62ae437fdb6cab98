"""A set that values may be checked against, and the sets that depend on the parameters of a distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert._C import Tensor


class Constraint:
    """A region in which a variable is valid, such as where a parameter may lie or what a distribution may give.

    Attributes
    ----------
    is_discrete : bool
        Whether the region consists of single points.
    event_dim : int
        How many dimensions on the right make one variable: 0 for numbers, 1 for vectors, 2 for matrices.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.constraints.positive.check(wg.tensor([-1.0, 2.0]))
    tensor([False,  True])
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _bounds: tuple[str, ...] = ()

    def check(self, value: Any) -> Any:
        """Return which elements of the batch are valid: a tensor of bool without the dimensions of the event."""
        raise NotImplementedError(f"{type(self).__name__} does not define check()")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self._bounds)})"


class Dependent(Constraint):
    """A region that depends on other variables; it can be checked only in a distribution that has them."""

    def __init__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:
        """Whether the region consists of single points."""
        return bool(self._told("is_discrete", self._is_discrete))

    @property
    def event_dim(self) -> int:
        """How many dimensions make one variable."""
        return int(self._told("event_dim", self._event_dim))

    @staticmethod
    def _told(name: str, value: Any) -> Any:
        if value is None:
            raise NotImplementedError(f".{name} cannot be determined statically; ask that of an instance")
        return value

    def __call__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> Dependent:
        """Return the same with what is known."""
        return Dependent(
            is_discrete=self._is_discrete if is_discrete is None else is_discrete,
            event_dim=self._event_dim if event_dim is None else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint; ask the support of an instance")


class dependent_property(property, Dependent):
    """Makes a property that is a constraint: of an instance the one that it returns, of the class a `Dependent`.

    Examples
    --------
    >>> from wengert.distributions import constraints
    >>> class Uniform:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    ...
    ...     @constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return constraints.interval(self.low, self.high)
    >>> Uniform.support.event_dim, Uniform(1, 2).support
    (0, Interval(lower_bound=1, upper_bound=2))
    """

    def __init__(
        self,
        fn: Callable[[Any], Any] | None = None,
        *,
        is_discrete: bool | None = None,
        event_dim: int | None = None,
    ) -> None:
        property.__init__(self, fn)
        Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[[Any], Any]) -> Any:  # type: ignore[override]
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class IndependentConstraint(Constraint):
    """A constraint on variables of more dimensions, valid where all their elements are."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:
        """As of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """That of the base and the dimensions that are reinterpreted."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.flatten(result.dim() - self.reinterpreted_batch_ndims).all(-1) if self._many else result

    @property
    def _many(self) -> bool:
        return self.reinterpreted_batch_ndims > 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What the components of a mixture may give, for values without the dimension of the components."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:
        """As of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """As of the base."""
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class Cat(Constraint):
    """Constraints for parts of a variable, one after another along a dimension."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        self.cseq = list(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.dim = dim
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"{len(self.cseq)} constraints have {len(self.lengths)} lengths")

    @property
    def is_discrete(self) -> Any:
        """Whether any part is."""
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> Any:
        """The largest of the parts."""
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return wg.cat([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


class Stack(Cat):
    """Constraints for the slices of a variable along a dimension."""

    @property
    def event_dim(self) -> Any:
        """The largest of the slices, and one more if the slices lie within the event."""
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        slices = value.unbind(self.dim)
        return wg.stack([c.check(part) for c, part in zip(self.cseq, slices, strict=True)], self.dim)


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on other variables, as ``Binomial.support`` does."""
    return isinstance(constraint, Dependent)


def all_of(valid: Tensor, dims: int) -> Any:
    """Return which elements of the batch are valid in all of their last dimensions."""
    return valid.flatten(-dims).all(-1)
