"""Functions of neural networks: activations, losses, convolutions, normalisation; from the table of operations."""

import functools as _functools
from typing import Any as _Any

from wengert._C._nn_functional import *  # noqa: F403

from ._losses import (  # noqa: F401
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    triplet_margin_with_distance_loss,
)
from ._pooling import max_pool1d, max_pool2d, max_pool3d  # noqa: F401
from ._random import gumbel_softmax, rrelu  # noqa: F401
from ._resampling import (  # noqa: F401
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)

_IN_PLACE = {"celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_"}


def __getattr__(name: str) -> _Any:
    if name in _IN_PLACE:  # relu_(x) is relu(x, inplace=True)
        return _functools.partial(globals()[name[:-1]], inplace=True)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
