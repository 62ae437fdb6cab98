"""Optimizers: rules that move parameters along their gradients.

`_optimizer.py` holds what all rules share (parameter groups, state, saving); read it first. Each rule
is then one file that states its mathematics for one parameter.
"""

from wengert._missing import advise as _advise

from ._adam import Adam
from ._optimizer import Optimizer
from ._sgd import SGD

__all__ = ["SGD", "Adam", "Optimizer"]

_advise(globals())
