"""One rise and one long fall of rates, with momenta that fall and rise."""

from __future__ import annotations

from typing import Any, Literal

from .._optimizer import Optimizer
from ._base import LRScheduler, Rate, check_strategy, one_per_group
from ._cosine import cosine
from ._momenta import bounds, set_momentum, uses_beta1


class OneCycleLR(LRScheduler):
    """Rates that rise from ``max_lr / div_factor`` to `max_lr` and then fall far below. Step after every batch.

    Momenta go the other way. With `three_phase`, rates first fall back to where they began, and then lower still.

    Parameters
    ----------
    optimizer : Optimizer
    max_lr : float, or list of float
        Where rates turn, for all groups or for each.
    total_steps : int, optional
        How many steps there will be; ``epochs * steps_per_epoch`` if not given.
    epochs, steps_per_epoch : int, optional
    pct_start : float
        The share of steps that go up.
    anneal_strategy : {"cos", "linear"}
    cycle_momentum : bool
        Whether to change the momentum (or the first of ``betas``) as well.
    base_momentum, max_momentum : float, or list of float
        The momentum where the rate is high, and where it is low.
    div_factor : float
        By what the rate at the start is lower than `max_lr`.
    final_div_factor : float
        By what the rate at the end is lower than at the start.
    three_phase : bool
    last_epoch : int
        See `LRScheduler`.

    Raises
    ------
    ValueError
        If the number of steps is not given, an argument is out of range, there is no momentum to change, or `step` is
        called too often.

    References
    ----------
    Smith and Topin (2018), Super-convergence: very fast training of neural networks using large learning rates,
    https://arxiv.org/abs/1708.07120.

    Examples
    --------
    >>> import wengert as wg
    >>> optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], momentum=0.9)
    >>> scheduler = wg.optim.lr_scheduler.OneCycleLR(
    ...     optimizer, max_lr=1.0, total_steps=10, anneal_strategy="linear", div_factor=2
    ... )
    >>> for step in range(3):
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
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self._attach(optimizer)
        self.total_steps = _count(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        check_strategy(anneal_strategy)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        if last_epoch == -1:
            for highest, group in zip(one_per_group("max_lr", optimizer, max_lr), optimizer.param_groups, strict=True):
                group["initial_lr"] = highest / div_factor
                group["max_lr"] = highest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            bounds(optimizer, base_momentum, max_momentum, self.use_beta1, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._warn_if_asked()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start, phase = self._phase(step)
        share = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                momentum = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                set_momentum(group, momentum, self.use_beta1)
        return rates

    def _phase(self, step: int) -> tuple[float, dict[str, Any]]:
        """Return the phase of a step, and where it starts."""
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                return start, phase
            start = phase["end_step"]
        return start, self._schedule_phases[-1]

    def _between(self, start: Any, end: Any, share: float) -> Any:
        return cosine(start, end, share) if self._anneal_func_type == "cos" else start + (end - start) * share


def _count(total: int | None, epochs: int | None, steps: int | None) -> int:
    if total is None and (epochs is None or steps is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total} if total is not None else {"epochs": epochs, "steps_per_epoch": steps}
    product = 1
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        product *= value
    return product


def _phases(total: int, share: float, three: bool) -> list[dict[str, Any]]:
    """Return what each phase leads from and to, by names of entries of a group."""
    rates, momenta = ["initial_lr", "max_lr", "min_lr"], ["max_momentum", "base_momentum", "max_momentum"]
    ends = [float(share * total) - 1, total - 1]
    if three:
        rates.insert(2, "initial_lr")
        momenta.append("max_momentum")
        ends.insert(1, float(2 * share * total) - 2)
    return [
        {
            "end_step": end,
            "start_lr": rates[i],
            "end_lr": rates[i + 1],
            "start_momentum": momenta[i],
            "end_momentum": momenta[i + 1],
        }
        for i, end in enumerate(ends)
    ]
