"""Functions of neural networks: activations, losses, convolutions, normalisation; from the table of operations."""

import functools as _functools
import typing as _typing

if _typing.TYPE_CHECKING:  # of two definitions of a name type checkers keep the first
    from ._pooling import *  # noqa: F403

from wengert._C._nn_functional import *  # noqa: F403

from ._attention import multi_head_attention_forward as multi_head_attention_forward
from ._embedding import embedding as embedding
from ._embedding import embedding_bag as embedding_bag
from ._fractional_pooling import fractional_max_pool2d as fractional_max_pool2d
from ._fractional_pooling import fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices
from ._fractional_pooling import fractional_max_pool3d as fractional_max_pool3d
from ._fractional_pooling import fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices
from ._losses import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from ._pooling import *  # noqa: F403

if _typing.TYPE_CHECKING:  # type checkers do not see `__getattr__`: with it, no name would be unknown to them
    celu_, elu_, hardtanh_, leaky_relu_ = celu, elu, hardtanh, leaky_relu  # noqa: F405
    relu_, rrelu_, selu_, threshold_ = relu, rrelu, selu, threshold  # noqa: F405
else:
    _IN_PLACE = {"celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_"}

    def __getattr__(name: str) -> _typing.Any:
        if name in _IN_PLACE:  # relu_(x) is relu(x, inplace=True)
            return _functools.partial(globals()[name[:-1]], inplace=True)
        from wengert._missing import no_attribute

        raise no_attribute("nn.functional", name)
