"""Optimizers: rules that move parameters along their gradients.

`_optimizer.py` holds what all optimizers share (parameter groups, state, hooks, saving); read it first. `_rule.py` adds
what published rules have in common. Each rule is then one file that states its mathematics for one parameter.
"""

import importlib as _importlib
import typing as _typing

from . import lr_scheduler as lr_scheduler
from . import optimizer as optimizer
from ._adadelta import Adadelta
from ._adafactor import Adafactor
from ._adagrad import Adagrad
from ._adam import Adam, AdamW
from ._adamax import Adamax
from ._asgd import ASGD
from ._lbfgs import LBFGS
from ._muon import Muon
from ._nadam import NAdam
from ._optimizer import Optimizer
from ._radam import RAdam
from ._rmsprop import RMSprop
from ._rprop import Rprop
from ._sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "optimizer",
    "swa_utils",
]

# Modules of layers are much to load for those who have none: `swa_utils` comes when it is first used. Type checkers do
# not see `__getattr__`: with it, no name would be unknown to them.
if _typing.TYPE_CHECKING:
    from . import swa_utils as swa_utils
else:

    def __getattr__(name: str) -> _typing.Any:
        if name == "swa_utils":
            return _importlib.import_module(f"{__name__}.{name}")
        from wengert._missing import no_attribute

        raise no_attribute("optim", name)
