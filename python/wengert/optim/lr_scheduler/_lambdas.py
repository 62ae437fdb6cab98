"""Schedules that are functions of the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._optimizer import Optimizer
from ._base import LRScheduler, Rate, saved_function

Function = Callable[[int], float]


class _FunctionsLR(LRScheduler):
    """A schedule with one function for each group."""

    _unsaved = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer: Optimizer, lr_lambda: Function | list[Function], last_epoch: int = -1) -> None:
        self._attach(optimizer)
        count = len(optimizer.param_groups)
        functions = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(functions) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(functions)}")
        for function in functions:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        self.lr_lambdas = functions
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return what the schedule remembers; functions are saved if they are objects with attributes.

        Returns
        -------
        dict
        """
        return super().state_dict() | {"lr_lambdas": [saved_function(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; the functions stay those of this schedule.

        Parameters
        ----------
        state_dict : dict
        """
        saved = dict(state_dict)
        for function, attributes in zip(self.lr_lambdas, saved.pop("lr_lambdas"), strict=True):
            if attributes is not None:
                vars(function).update(attributes)
        super().load_state_dict(saved)


class LambdaLR(_FunctionsLR):
    """Multiplies the rates at the start by a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable, or list of callables
        Takes the number of the epoch and returns a factor; one for all groups, or one for each.
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If the numbers of functions and of groups differ.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_FunctionsLR):
    """Multiplies the present rates by a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable, or list of callables
        Takes the number of the epoch and returns a factor; one for all groups, or one for each.
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If the numbers of functions and of groups differ.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = wg.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for epoch in range(2):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        if self._is_initial:
            return self._present()
        groups = self.optimizer.param_groups
        return [group["lr"] * f(self.last_epoch) for f, group in zip(self.lr_lambdas, groups, strict=True)]
