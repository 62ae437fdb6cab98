"""What is checked and how, and which options contradict each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._inputs import call


@dataclass(frozen=True)
class Options:
    """How `gradcheck` checks; see there for the meaning of each."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool

    def __post_init__(self) -> None:
        if not (self.check_forward_ad or self.check_backward_ad):
            raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
        if self.check_batched_grad and not self.check_backward_ad:
            raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
        if self.check_batched_forward_grad and not self.check_forward_ad:
            raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")


@dataclass(frozen=True)
class Case:
    """A function, the inputs at which it is checked, the positions of those to differentiate, and the options."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    positions: list[int]
    options: Options

    @property
    def targets(self) -> list[Any]:
        return [self.inputs[position] for position in self.positions]

    def outputs(self) -> tuple[Any, ...]:
        """Call the function."""
        return call(self.function, self.inputs)


def check_second_order_options(
    check_fwd_over_rev: bool, check_rev_over_rev: bool, check_undefined_grad: bool, check_batched_grad: bool
) -> None:
    """Raise AssertionError where the options of `gradgradcheck` contradict each other."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
