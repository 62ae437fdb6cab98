"""Batches of variables taken as one variable."""

from __future__ import annotations

from typing import Any, ClassVar

from wengert._C import Size

from .. import constraints
from .._base.distribution import Distribution
from .._base.parameters import sum_rightmost
from .of_base import of_base


class Independent(Distribution):
    """The distribution of vectors (or arrays) of independent variables: dimensions of a batch become the event's.

    Parameters
    ----------
    base_distribution : Distribution
    reinterpreted_batch_ndims : int
        How many dimensions of the batch.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If the batch has fewer dimensions.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.distributions import Independent, Normal
    >>> d = Independent(Normal(wg.zeros(3, 2), 1.0), 1)
    >>> d.batch_shape, d.event_shape, d.log_prob(wg.zeros(3, 2))
    (wengert.Size([3]), wengert.Size([2]), tensor([-1.8379, -1.8379, -1.8379]))
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        split = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:split], (*batch[split:], *base_distribution.event_shape), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        own = self.event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(Size((*new.batch_shape, *own)))
        return new

    has_rsample = of_base("As the base.")

    @property
    def has_enumerate_support(self) -> Any:
        """Never for more than one variable: their values are too many."""
        return False if self.reinterpreted_batch_ndims > 0 else self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the base, for all elements."""
        base, dims = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(base, dims) if dims else base

    mean = of_base("The mean.")
    mode = of_base("The most probable value.")
    variance = of_base("The variance.")

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented: it is too large")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
