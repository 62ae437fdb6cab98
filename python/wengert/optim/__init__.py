"""Optimizers: rules that move parameters along their gradients.

`_optimizer.py` holds what all optimizers share (parameter groups, state, hooks, saving); read it first. `_rule.py` adds
what published rules have in common. Each file in `_rules` then states the mathematics of one rule for one parameter.
"""

import importlib as _importlib
import typing as _typing

from . import lr_scheduler as lr_scheduler
from . import optimizer as optimizer
from ._optimizer import Optimizer
from ._rules.adadelta import Adadelta
from ._rules.adafactor import Adafactor
from ._rules.adagrad import Adagrad
from ._rules.adam import Adam, AdamW
from ._rules.adamax import Adamax
from ._rules.asgd import ASGD
from ._rules.lbfgs import LBFGS
from ._rules.muon import Muon
from ._rules.nadam import NAdam
from ._rules.radam import RAdam
from ._rules.rmsprop import RMSprop
from ._rules.rprop import Rprop
from ._rules.sgd import SGD
from ._rules.sparse_adam import SparseAdam

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
    "SparseAdam",
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
