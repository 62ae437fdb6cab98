"""Rates that follow half a period of the cosine, once or again and again."""

from __future__ import annotations

import math
from typing import Any

from .._optimizer import Optimizer
from ._base import LRScheduler, Rate


def cosine(start: Any, end: Any, share: float) -> Any:
    """Go from `start` to `end` as `share` goes from 0 to 1, slowly at both ends."""
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


class CosineAnnealingLR(LRScheduler):
    r"""Lowers rates from where they start to `eta_min` along a cosine, in `T_max` epochs.

    The rate at epoch :math:`t` is

    .. math:: \eta_{min} + (\eta_0 - \eta_{min}) \frac{1 + \cos(\pi t / T_{max})}{2},

    computed from the rate before, so that other schedules can act at the same time. Past `T_max` it rises again.

    Parameters
    ----------
    optimizer : Optimizer
    T_max : int
    eta_min : float
    last_epoch : int
        See `LRScheduler`.

    References
    ----------
    Loshchilov and Hutter (2017), SGDR: stochastic gradient descent with warm restarts, https://arxiv.org/abs/1608.03983;
    without the restarts.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 4)
    0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803  # PyTorch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        if self._is_initial:
            return self._present()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the minimum no factor leads up
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                group["lr"] + (base - self.eta_min) * rise for base, group in zip(self.base_lrs, groups, strict=True)
            ]
        now, before = (1 + math.cos(math.pi * epoch / self.T_max) for epoch in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [cosine(base, self.eta_min, self.last_epoch / self.T_max) for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""Lowers rates to `eta_min` along a cosine and starts again, in periods that may grow.

    The rate :math:`t` epochs after the last restart, in a period of :math:`T` epochs, is

    .. math:: \eta_{min} + (\eta_0 - \eta_{min}) \frac{1 + \cos(\pi t / T)}{2}.

    Parameters
    ----------
    optimizer : Optimizer
    T_0 : int
        The length of the first period.
    T_mult : int
        By what each period is longer than the one before.
    eta_min : float
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If a period or the factor is not a positive integer.

    References
    ----------
    Loshchilov and Hutter (2017), SGDR: stochastic gradient descent with warm restarts, https://arxiv.org/abs/1608.03983.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for epoch in range(2):
    ...     print(round(scheduler.get_last_lr()[0], 4))
    ...     scheduler.step()
    1.0
    0.5
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803  # PyTorch's name
        T_mult: int = 1,  # noqa: N803  # PyTorch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i: float = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        return [cosine(base, self.eta_min, self.T_cur / self.T_i) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to a given one, which may lie between two.

        Parameters
        ----------
        epoch : float, optional
            ``epoch + batch / batches`` after each batch makes the rate fall smoothly.

        Raises
        ------
        ValueError
            If `epoch` is negative.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._restart(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self._computed())

    def _restart(self, epoch: float) -> None:
        """Find the period in which an epoch lies."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            period = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**period - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**period
