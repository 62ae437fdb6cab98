"""What all distributions share.

A family says what its parameters are (``arg_constraints``), hands them to `Distribution._declare`, which makes tensors
of numbers and broadcasts them, and defines

- ``_draw(shape)``: samples of a shape, differentiable with respect to the parameters if ``has_rsample``;
- ``_log_prob(value)``, and ``_cdf(value)`` and ``_icdf(value)`` where they have a closed form;
- ``mean``, ``mode``, ``variance`` and ``entropy()``.

Checks, shapes and `expand` are here, once.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import wengert as wg
from wengert._C import Size

from .._constraints.constraint import Constraint
from .parameters import broadcast_parameters, expand_batch, names_of_lazy
from .validation import check_parameters, check_value


class Distribution:
    """Base class of probability distributions.

    A distribution is a batch of variables, independent and each with its own parameters. Values have the shape
    ``sample_shape + batch_shape + event_shape``; densities have ``sample_shape + batch_shape``.

    Parameters
    ----------
    batch_shape : Size
        The shape of the parameters.
    event_shape : Size
        The shape of one variable: ``()`` for numbers.
    validate_args : bool, optional
        Whether to check parameters and values. By default they are, unless Python runs with ``-O``, or what
        `set_default_validate_args` has said.

    Attributes
    ----------
    has_rsample : bool
        Whether `rsample` gives samples that are differentiable with respect to the parameters.
    has_enumerate_support : bool
        Whether the values can be listed.
    arg_constraints : dict of str to Constraint
        Where the parameters may lie.
    support : Constraint
        What values there may be.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    arg_constraints: ClassVar[Any] = {}
    support: Any = None
    _validate_args: bool = __debug__
    _event_dims: dict[str, int]

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if not hasattr(self, "_event_dims"):
            self._event_dims = {}
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            check_parameters(self)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether distributions check parameters and values where they are not told.

        Parameters
        ----------
        value : bool
        """
        if value not in (True, False):
            raise ValueError(f"the default must be True or False, but is {value!r}")
        Distribution._validate_args = value

    def _declare(self, validate_args: bool | None, event_shape: Any = (), **parameters: Any) -> None:
        """Take parameters: numbers or tensors, broadcast against each other."""
        self._event_dims = {name: self._event_dim_of(name) for name in parameters}
        tensors, batch_shape = broadcast_parameters(parameters, self._event_dims)
        self.__dict__.update(tensors)
        Distribution.__init__(self, batch_shape, event_shape, validate_args)

    def _event_dim_of(self, name: str) -> int:
        constraint: Constraint = self.arg_constraints[name]
        return int(constraint.event_dim)

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one variable."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """Return the same distribution with its batch expanded, without copying parameters.

        Parameters
        ----------
        batch_shape : Size
            The new shape; the present one must expand to it.

        Returns
        -------
        Distribution
        """
        cls = type(self)
        new: Self = cls.__new__(cls) if _instance is None else _instance
        derived = names_of_lazy(cls) - self._event_dims.keys()
        new.__dict__.update({name: value for name, value in vars(self).items() if name not in derived})
        new._batch_shape = Size(batch_shape)
        for name, event_dim in self._event_dims.items():
            new.__dict__[name] = expand_batch(vars(self)[name], new._batch_shape, event_dim)
        return new

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    # --- Samples
    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw values, without derivatives.

        Parameters
        ----------
        sample_shape : Size
            How many of each variable.

        Returns
        -------
        Tensor
            Of the shape ``sample_shape + batch_shape + event_shape``.
        """
        with wg.no_grad():
            if self.has_rsample:
                return self.rsample(sample_shape)
            return self._draw(self._extended_shape(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw values that are differentiable functions of the parameters.

        Parameters
        ----------
        sample_shape : Size
            How many of each variable.

        Returns
        -------
        Tensor
            Of the shape ``sample_shape + batch_shape + event_shape``.

        Raises
        ------
        NotImplementedError
            If the family has no such form; its gradients are estimated from ``log_prob(sample())``.
        """
        if not self.has_rsample:
            raise NotImplementedError(
                f"{type(self).__name__} has no reparameterised samples; use log_prob(sample()) in a score function"
            )
        return self._draw(self._extended_shape(sample_shape))

    def sample_n(self, n: int) -> Any:
        """Draw `n` values: the old name of ``sample((n,))``."""
        return self.sample(Size((n,)))

    def rsample_n(self, n: int) -> Any:
        """Draw `n` values: the old name of ``rsample((n,))``."""
        return self.rsample(Size((n,)))

    # --- Densities
    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density, or of the probability, at a value.

        Parameters
        ----------
        value : Tensor
            Broadcasts against ``batch_shape + event_shape``.

        Returns
        -------
        Tensor
            Of the shape of `value` broadcast, without the dimensions of the event.

        Raises
        ------
        ValueError
            If arguments are validated and the shape does not fit or the value is outside of the support.
        """
        self._validate_sample(value)
        return self._log_prob(value)

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to one.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor
        """
        self._validate_sample(value)
        return self._cdf(value)

    def icdf(self, value: Any) -> Any:
        """Return the quantile, the inverse of `cdf`.

        Parameters
        ----------
        value : Tensor
            Probabilities.

        Returns
        -------
        Tensor
        """
        return self._icdf(value)

    def entropy(self) -> Any:
        """Return the entropy in nats, for each element of the batch."""
        raise self._missing("entropy")

    def perplexity(self) -> Any:
        """Return the exponential of the entropy."""
        return self.entropy().exp()

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all values, along a first dimension.

        Parameters
        ----------
        expand : bool, default True
            Whether the dimensions of the batch are expanded, or have length 1.

        Returns
        -------
        Tensor
        """
        raise self._missing("enumerate_support")

    @property
    def mean(self) -> Any:
        """The mean."""
        raise self._missing("mean")

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise self._missing("mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise self._missing("variance")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    # --- What families define
    def _draw(self, shape: Size) -> Any:
        raise self._missing("sample")

    def _log_prob(self, value: Any) -> Any:
        raise self._missing("log_prob")

    def _cdf(self, value: Any) -> Any:
        raise self._missing("cdf")

    def _icdf(self, value: Any) -> Any:
        raise self._missing("icdf")

    def _missing(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no closed form for {name}")

    def _validate_sample(self, value: Any) -> None:
        if self._validate_args:
            check_value(self, value)

    def _listed(self, values: Any, expand: bool) -> Any:
        """Return values of a support, a vector or vectors, as `enumerate_support` does."""
        event = tuple(self._event_shape)
        values = values.reshape(-1, *([1] * len(self._batch_shape)), *event)
        return values.expand(-1, *self._batch_shape, *event) if expand else values

    def __repr__(self) -> str:
        shown = {name: vars(self)[name] for name in self.arg_constraints if name in self._event_dims}
        given = [f"{name}: {v if v.numel() == 1 else v.shape}" for name, v in shown.items()]
        return f"{type(self).__name__}({', '.join(given)})"
