"""Rates that rise and fall again and again, along straight lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from .._optimizer import Optimizer
from ._base import LRScheduler, Rate, one_per_group, saved_function, set_value
from ._momenta import bounds, set_momentum, uses_beta1


class CyclicLR(LRScheduler):
    """Rates that go from `base_lr` up to `max_lr` and back, while momenta go the other way. Step after every batch.

    The height of a cycle may shrink: not at all (``triangular``), by half with each cycle (``triangular2``), by `gamma`
    with each step (``exp_range``), or by a function of one's own.

    Parameters
    ----------
    optimizer : Optimizer
    base_lr, max_lr : float, or list of float
        Where cycles begin and where they turn, for all groups or for each.
    step_size_up : int
        Steps up.
    step_size_down : int, optional
        Steps down, as many as up if not given.
    mode : {"triangular", "triangular2", "exp_range"}
    gamma : float
        For ``exp_range``.
    scale_fn : callable, optional
        Takes the number of the cycle (from 1), or of the step, and returns a share of the height; `mode` is not used.
    scale_mode : {"cycle", "iterations"}
        What `scale_fn` takes.
    cycle_momentum : bool
        Whether to change the momentum (or the first of ``betas``) as well.
    base_momentum, max_momentum : float, or list of float
        The momentum where the rate is high, and where it is low.
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If the mode is unknown, or the optimizer has no momentum to change.

    References
    ----------
    Smith (2017), Cyclical learning rates for training neural networks, https://arxiv.org/abs/1506.01186.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], momentum=0.9)
    >>> scheduler = wg.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> for step in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    ...     print(scheduler.get_last_lr(), round(optimizer.param_groups[0]["momentum"], 3))
    [0.5] 0.85
    [1.0] 0.8
    [0.5] 0.85
    [0.0] 0.9
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self._attach(optimizer)
        base_lrs = one_per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = one_per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: mode is {mode!r}")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            self.base_momentums, self.max_momentums = bounds(
                optimizer, base_momentum, max_momentum, self.use_beta1, last_epoch == -1
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Return the share of the height in a cycle or step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return float(0.5 ** (x - 1))
        return float(self.gamma**x) if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        position = 1.0 + self.last_epoch / self.total_size - cycle
        up = position <= self.step_ratio
        height = position / self.step_ratio if up else (position - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momenta = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in momenta:
                set_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Return what the schedule remembers; a `scale_fn` is saved if it is an object with attributes.

        Returns
        -------
        dict
        """
        return super().state_dict() | {"_scale_fn_custom": saved_function(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; the `scale_fn` stays that of this schedule.

        Parameters
        ----------
        state_dict : dict
        """
        saved = dict(state_dict)
        attributes = saved.pop("_scale_fn_custom")
        if attributes is not None:
            vars(self._scale_fn_custom).update(attributes)
        super().load_state_dict(saved)
