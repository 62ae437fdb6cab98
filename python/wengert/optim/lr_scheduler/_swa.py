"""Rates that go over to a constant, at which weights are averaged."""

from __future__ import annotations

import math
from typing import Literal

from .._optimizer import Optimizer
from ._base import LRScheduler, Rate, check_strategy, one_per_group


class SWALR(LRScheduler):
    """Goes from the present rate to `swa_lr` in `anneal_epochs` epochs, and stays there.

    Made for stochastic weight averaging: another schedule first, then this one along with
    `wengert.optim.swa_utils.AveragedModel`.

    Parameters
    ----------
    optimizer : Optimizer
    swa_lr : float, or list of float
        Where to go, for all groups or for each.
    anneal_epochs : int
    anneal_strategy : {"cos", "linear"}
    last_epoch : int
        See `wengert.optim.lr_scheduler.LRScheduler`.

    Raises
    ------
    ValueError
        If the strategy is unknown, or `anneal_epochs` negative.

    References
    ----------
    Izmailov, Podoprikhin, Garipov, Vetrov and Wilson (2018), Averaging weights leads to wider optima and better
    generalization, https://arxiv.org/abs/1803.05407.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    ...     print(scheduler.get_last_lr())
    [0.75]
    [0.5]
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(one_per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        check_strategy(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates

    def _share(self, step: int) -> float:
        """Return how much of the way is done after some steps."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t
