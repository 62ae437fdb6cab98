"""Schedules that multiply the present rate by a number that depends on the epoch."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from .._optimizer import Optimizer
from ._base import LRScheduler, Rate


class FactorLR(LRScheduler):
    """A schedule given by ``_factor()``, from the epoch before to this one, and ``_share(epoch)``, since the start."""

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        factor = self._factor()
        return self._present() if factor is None else [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Rate]:
        share = self._share(self.last_epoch)
        return [base * share for base in self.base_lrs]

    def _factor(self) -> float | None:
        """Return by what to multiply the present rates, None for no change."""
        raise NotImplementedError

    def _share(self, epoch: int) -> float:
        raise NotImplementedError


class StepLR(FactorLR):
    """Multiplies rates by `gamma` every `step_size` epochs.

    Parameters
    ----------
    optimizer : Optimizer
    step_size : int
    gamma : float
    last_epoch : int
        See `LRScheduler`.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self.last_epoch == 0 or self.last_epoch % self.step_size != 0 else self.gamma

    def _share(self, epoch: int) -> float:
        return float(self.gamma ** (epoch // self.step_size))


class MultiStepLR(FactorLR):
    """Multiplies rates by `gamma` at given epochs.

    Parameters
    ----------
    optimizer : Optimizer
    milestones : iterable of int
        Epochs; one that occurs twice counts twice.
    gamma : float
    last_epoch : int
        See `LRScheduler`.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch not in self.milestones:
            return None
        return float(self.gamma ** self.milestones[self.last_epoch])

    def _share(self, epoch: int) -> float:
        return float(self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch))


class ConstantLR(FactorLR):
    """Multiplies rates by `factor` during the first `total_iters` epochs.

    Parameters
    ----------
    optimizer : Optimizer
    factor : float
        Between 0 and 1.
    total_iters : int
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If `factor` is out of range.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.ConstantLR(optimizer, factor=0.25, total_iters=2)
    >>> for epoch in range(3):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.25]
    [0.25]
    [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1. But got {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _share(self, epoch: int) -> float:
        return 1.0 if epoch >= self.total_iters else self.factor


class LinearLR(FactorLR):
    """Multiplies rates by a factor that goes linearly from `start_factor` to `end_factor` in `total_iters` epochs.

    Parameters
    ----------
    optimizer : Optimizer
    start_factor : float
        Greater than 0, at most 1.
    end_factor : float
        Between 0 and 1.
    total_iters : int
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If a factor is out of range.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> for epoch in range(3):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.5]
    [0.75]
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1. "
                f"But got {start_factor}"
            )
        if not 0 <= end_factor <= 1:
            raise ValueError(f"Ending multiplicative factor expected to be between 0 and 1. But got {end_factor}")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _share(self, epoch: int) -> float:
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, epoch) / self.total_iters


class ExponentialLR(FactorLR):
    """Multiplies rates by `gamma` every epoch.

    Parameters
    ----------
    optimizer : Optimizer
    gamma : float
    last_epoch : int
        See `LRScheduler`.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _share(self, epoch: int) -> float:
        return float(self.gamma**epoch)


class PolynomialLR(FactorLR):
    """Multiplies rates by ``(1 - epoch / total_iters)**power``.

    Parameters
    ----------
    optimizer : Optimizer
    total_iters : int
        The epoch at which the rate is zero.
    power : float
    last_epoch : int
        See `LRScheduler`.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=2)
    >>> for epoch in range(2):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 4)
    0.25
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        now, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return float((now / before) ** self.power)

    def _share(self, epoch: int) -> float:
        return float((1.0 - min(self.total_iters, epoch) / self.total_iters) ** self.power)
