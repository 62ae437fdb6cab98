"""The von Mises distribution of angles."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from wengert.special import i0e, i1e

from .. import constraints
from .._base import draws
from .._base.distribution import Distribution


class VonMises(Distribution):
    r"""Von Mises distribution of angles, :math:`p(x) = \exp(\kappa \cos(x - \mu)) / 2 \pi I_0(\kappa)`.

    Parameters
    ----------
    loc : float or Tensor
        The mean direction :math:`\mu`.
    concentration : float or Tensor
        :math:`\kappa`, positive.
    validate_args : bool, optional

    Notes
    -----
    ``variance`` is the circular one, :math:`1 - I_1(\kappa) / I_0(\kappa)`. Samples lie between -pi and pi.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.distributions.VonMises(0.0, 1.0).log_prob(wg.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    loc: Any
    concentration: Any

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._declare(validate_args, loc=loc, concentration=concentration)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def _draw(self, shape: Any) -> Any:
        angle = draws.von_mises(self.concentration.expand(shape)) + self.loc
        return (angle + math.pi).remainder(2 * math.pi) - math.pi

    def _log_prob(self, value: Any) -> Any:
        # kappa cos(d) - log I0(kappa) with the large parts taken off both: cos(d) - 1 = -2 sin(d / 2)**2
        deviation = -2 * (0.5 * (value - self.loc)).sin().square()
        return self.concentration * deviation - math.log(2 * math.pi) - i0e(self.concentration).log()

    def entropy(self) -> Any:
        mean_cosine = i1e(self.concentration) / i0e(self.concentration)
        return math.log(2 * math.pi) + i0e(self.concentration).log() + self.concentration * (1 - mean_cosine)
