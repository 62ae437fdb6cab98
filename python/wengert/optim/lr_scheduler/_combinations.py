"""Schedules one after another, and several at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .._optimizer import Optimizer
from ._base import LRScheduler, set_value
from ._plateau import ReduceLROnPlateau


class _Combination(LRScheduler):
    """A schedule made of schedules of one optimizer."""

    _unsaved = ("optimizer", "_schedulers")
    _schedulers: Sequence[LRScheduler]

    def _combine(self, optimizer: Optimizer | None, schedulers: Sequence[LRScheduler]) -> None:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
        for index, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {index} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {index} in the given schedulers sequence."
                )
            optimizer = optimizer or scheduler.optimizer
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {index} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )
        self._schedulers = schedulers
        self.optimizer = schedulers[0].optimizer

    def state_dict(self) -> dict[str, Any]:
        """Return what this schedule and its parts remember.

        Returns
        -------
        dict
        """
        return super().state_dict() | {"_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned.

        Parameters
        ----------
        state_dict : dict
        """
        saved = dict(state_dict)
        for scheduler, part in zip(self._schedulers, saved.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(part)
        super().load_state_dict(saved)


class SequentialLR(_Combination):
    """Schedules that follow one another at given epochs.

    Parameters
    ----------
    optimizer : Optimizer
    schedulers : list of LRScheduler
        All of them made for `optimizer`, none a `ReduceLROnPlateau`.
    milestones : list of int
        The epochs at which the second, the third, ... begins.
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If the schedules do not fit together, or the number of milestones is not one less than theirs.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, factor=0.25, total_iters=2), ExponentialLR(optimizer, gamma=0.5)]
    >>> scheduler = SequentialLR(optimizer, parts, milestones=[2])
    >>> for epoch in range(4):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.25]
    [0.25]
    [1.0]
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._combine(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        # Each part has set the rates of its first epoch: back to the start, and only the first one again.
        for group in optimizer.param_groups:
            set_value(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        """Take back the step that each part has made when it was made."""
        scheduler = self if sched is None else sched
        parts = getattr(scheduler, "_schedulers", None)
        if parts is None:
            scheduler.last_epoch -= 1
            return
        for part in parts:
            self.recursive_undo(part)

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combination):
    """Several schedules at once: each changes the rates that the one before has set.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
        None a `ReduceLROnPlateau`.
    optimizer : Optimizer, optional
        That of the first schedule if not given.

    Raises
    ------
    ValueError
        If the schedules do not fit together.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ChainedScheduler([ConstantLR(optimizer, factor=0.25, total_iters=2), ExponentialLR(optimizer, 0.5)])
    >>> for epoch in range(3):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [0.25]
    [0.125]
    [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._combine(optimizer, schedulers)
        self._last_lr = self._present()

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch in all of them."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._present()
