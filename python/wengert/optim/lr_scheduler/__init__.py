"""Schedules: learning rates that change from epoch to epoch, or from step to step.

`_base.py` holds what all schedules share; read it first. Then `_factors.py` (rates multiplied by a number that depends
on the epoch), `_lambdas.py` (by a function of the user's), `_cosine.py`, `_cyclic.py` and `_one_cycle.py` (rates that
rise and fall, with momenta that fall and rise), `_plateau.py` (rates that depend on a measure) and `_combinations.py`.
"""

from ._base import LRScheduler
from ._base import _LRScheduler as _LRScheduler
from ._combinations import ChainedScheduler, SequentialLR
from ._cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from ._cyclic import CyclicLR
from ._factors import ConstantLR, ExponentialLR, LinearLR, MultiStepLR, PolynomialLR, StepLR
from ._lambdas import LambdaLR, MultiplicativeLR
from ._one_cycle import OneCycleLR
from ._plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
