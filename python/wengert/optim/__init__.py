"""Optimizers: rules that move parameters along their gradients.

`_optimizer.py` holds what all rules share (parameter groups, state, saving); read it first. Each rule
is then one file that states its mathematics for one parameter.
"""

import typing as _typing

from ._adam import Adam
from ._optimizer import Optimizer
from ._sgd import SGD

__all__ = ["SGD", "Adam", "Optimizer"]

if not _typing.TYPE_CHECKING:  # with it, no name would be unknown to type checkers

    def __getattr__(name: str) -> _typing.Any:
        from wengert._missing import no_attribute

        raise no_attribute("optim", name)
