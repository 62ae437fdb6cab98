"""What all schedules share: the rates at the start, the count of epochs, saving, and a look at the order of calls.

A schedule defines ``get_lr()``, the rates of all groups at ``last_epoch``, computed from the present ones where that is
possible: then several schedules can change one optimizer. Some define ``_get_closed_form_lr()`` as well, which starts
from ``base_lrs``; ``step(epoch)`` takes it.
"""

from __future__ import annotations

import types
import warnings
from typing import Any, ClassVar

from wengert._C import Tensor

from .._optimizer import Optimizer

Rate = float | Tensor

_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order: "
    "`optimizer.step()` before `lr_scheduler.step()`. Otherwise the first value of the schedule is skipped."
)
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    "to call `optimizer.step()` before `lr_scheduler.step()`."
)
_EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()`. If epoch is given, the closed form is used instead of the chainable form, where available."
)
_GET_LR = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."


class LRScheduler:
    """Base class of schedules.

    A schedule sets ``group["lr"]`` of each parameter group when it is made, and again in each `step`. A rate that is a
    tensor stays the same tensor and is filled.

    Parameters
    ----------
    optimizer : Optimizer
        Whose learning rates to set.
    last_epoch : int
        The epoch after which to go on, for an optimizer whose groups have their ``initial_lr``; -1 starts anew.

    Attributes
    ----------
    base_lrs : list
        The rates of all groups at the start.
    last_epoch : int

    Raises
    ------
    TypeError
        If `optimizer` is none.
    KeyError
        If `last_epoch` is given and a group has no ``initial_lr``.

    Examples
    --------
    A schedule of one's own states the rates at an epoch:

    >>> import wengert as wg
    >>> class Harmonic(wg.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base / (1 + self.last_epoch) for base in self.base_lrs]
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=0.6)
    >>> scheduler = Harmonic(optimizer)
    >>> for epoch in range(3):
    ...     optimizer.step()
    ...     print(scheduler.get_last_lr())
    ...     scheduler.step()
    [0.6]
    [0.3]
    [0.19999999999999998]
    """

    # Names of attributes that `state_dict` leaves out.
    _unsaved: ClassVar[tuple[str, ...]] = ("optimizer",)

    optimizer: Optimizer
    last_epoch: int
    _last_lr: list[Rate]
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self._attach(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler with "
                    "last_epoch >= 0; load the state of the optimizer first, or leave last_epoch out"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        if not vars(optimizer).get("_scheduled"):
            vars(optimizer).update(_scheduled=True, _opt_called=False)
        self._initial_step()

    def _attach(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer

    def _initial_step(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return everything that the schedule remembers, but for the optimizer.

        Functions of the user's are left out unless they are objects with attributes. Save the optimizer as well.

        Returns
        -------
        dict
        """
        return {name: value for name, value in vars(self).items() if name not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned.

        Parameters
        ----------
        state_dict : dict
        """
        vars(self).update(state_dict)

    def get_last_lr(self) -> list[Rate]:
        """Return the rates that were set last, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """Compute the rates of all groups at ``last_epoch``. `step` calls this; see `get_last_lr`."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch. Call it after ``optimizer.step()``.

        Parameters
        ----------
        epoch : int, optional
            Deprecated: the epoch to go to.

        Warns
        -----
        UserWarning
            If the optimizer has not made a step since the schedule was made, or `epoch` is given.
        """
        if self._step_count == 1:
            if not getattr(self.optimizer.step, "hooked", False):
                warnings.warn(_OVERRIDDEN, UserWarning, stacklevel=2)
            elif not self.optimizer._opt_called:
                warnings.warn(_ORDER, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_EPOCH, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set(self._computed() if epoch is None or closed is None else closed())

    def _computed(self) -> list[Rate]:
        """Call `get_lr` so that it does not warn."""
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _warn_if_asked(self) -> None:
        """Point to `get_last_lr` when `get_lr` is called from outside, where it would go one step further."""
        if not self._get_lr_called_within_step:
            warnings.warn(_GET_LR, UserWarning, stacklevel=3)

    def _present(self) -> list[Rate]:
        return values_of(self.optimizer, "lr")

    def _set(self, rates: list[Rate]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", rate)
        self._last_lr = self._present()


class _LRScheduler(LRScheduler):
    """The base class under its old name."""


def copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """Return ``group[key]`` of all groups; tensors are copied."""
    return [copied(group[key]) for group in optimizer.param_groups]


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Set ``group[key]``, or fill it if it is a tensor."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.reshape(()) if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def one_per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a value for each group: one value for all, or a list that has as many."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {count}."
        )
    return [copied(entry) for entry in value]


def saved_function(function: Any) -> dict[str, Any] | None:
    """Return the attributes of a callable object; a function has none that could be saved."""
    return None if function is None or isinstance(function, types.FunctionType) else vars(function).copy()


def check_strategy(strategy: str) -> None:
    if strategy not in ("cos", "linear"):
        raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}")
