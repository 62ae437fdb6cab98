"""Activations: layers that apply one function to every element, or along one dimension."""

from __future__ import annotations

import warnings
from typing import Any

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._layers.function_layer import OneInput, layer
from .._layers.multihead_attention import MultiheadAttention
from .._layers.sigmoids import Hardsigmoid, LogSigmoid, Sigmoid, Softplus, Softsign, Tanh, Tanhshrink
from .._layers.softmax import LogSoftmax, Softmax, Softmax2d, Softmin
from .._module import Module
from .._parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]  # fmt: skip


@layer
class Threshold(OneInput):
    """``x`` where it is above `threshold`, else `value`.

    Parameters
    ----------
    threshold, value : float
    inplace : bool, default False
        Whether to write to the input.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Threshold(1.0, -5.0)(wg.tensor([0.5, 2.0]))
    tensor([-5.,  2.])
    """

    _function = F.threshold
    _shown = "threshold={threshold}, value={value}"
    threshold: float
    value: float
    inplace: bool = False


@layer
class ReLU(OneInput):
    """``max(x, 0)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write to the input.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.ReLU()(wg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    _function = F.relu
    inplace: bool = False


@layer
class RReLU(OneInput):
    """``x``, with negative elements multiplied by random slopes in training, by the mean slope otherwise.

    Parameters
    ----------
    lower, upper : float
        The slopes' bounds.
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.rrelu
    _passed = ("lower", "upper", "training", "inplace")
    _shown = "lower={lower}, upper={upper}"
    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


@layer
class Hardtanh(OneInput):
    """``x`` between `min_val` and `max_val`, and those bounds beyond.

    Parameters
    ----------
    min_val, max_val : float, default -1 and 1
    inplace : bool, default False
        Whether to write to the input.
    min_value, max_value : float, optional
        Old names of the bounds.

    Raises
    ------
    ValueError
        If the bounds are not in order.
    """

    _function = F.hardtanh
    _passed = ("min_val", "max_val", "inplace")
    _shown = "min_val={min_val}, max_val={max_val}"
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False
    min_value: float | None = None
    max_value: float | None = None

    def _prepare(self) -> None:
        for name in ("min", "max"):
            value = self.__dict__.pop(f"{name}_value")
            if value is not None:
                warnings.warn(
                    f"keyword argument `{name}_value` is deprecated and rename to `{name}_val`",
                    FutureWarning,
                    stacklevel=4,
                )
                self.__dict__[f"{name}_val"] = value
        if self.max_val <= self.min_val:
            raise ValueError(f"max_val must be larger than min_val, but got {self.min_val} and {self.max_val}")


@layer
class ReLU6(OneInput):
    """``min(max(x, 0), 6)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.relu6
    inplace: bool = False


@layer
class SiLU(OneInput):
    """``x * sigmoid(x)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.silu
    inplace: bool = False


@layer
class Mish(OneInput):
    """``x * tanh(softplus(x))``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.mish
    inplace: bool = False


@layer
class Hardswish(OneInput):
    """``x * hardsigmoid(x)``.

    Parameters
    ----------
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.hardswish
    inplace: bool = False


@layer
class ELU(OneInput):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Parameters
    ----------
    alpha : float, default 1
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.elu
    _shown = "alpha={alpha}"
    alpha: float = 1.0
    inplace: bool = False


@layer
class CELU(OneInput):
    """``max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))``.

    Parameters
    ----------
    alpha : float, default 1
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.celu
    _shown = "alpha={alpha}"
    alpha: float = 1.0
    inplace: bool = False


@layer
class SELU(OneInput):
    """`ELU` with the two constants that keep mean 0 and variance 1 (Klambauer et al., 2017).

    Parameters
    ----------
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.selu
    inplace: bool = False


@layer
class GLU(OneInput):
    """The first half of a dimension times the sigmoid of the second.

    Parameters
    ----------
    dim : int, default -1
        Has an even length.
    """

    _function = F.glu
    _shown = "dim={dim}"
    dim: int = -1


@layer
class GELU(OneInput):
    """``x`` times the normal distribution function of it.

    Parameters
    ----------
    approximate : {'none', 'tanh'}
        Whether to use the approximation by a hyperbolic tangent.
    """

    _function = staticmethod(lambda input, approximate: F.gelu(input, approximate=approximate))
    _shown = "approximate={approximate!r}"
    approximate: str = "none"


@layer
class Hardshrink(OneInput):
    """``x`` where its absolute value is above `lambd`, else 0.

    Parameters
    ----------
    lambd : float, default 0.5
    """

    _function = F.hardshrink
    _shown = "{lambd}"
    lambd: float = 0.5


@layer
class LeakyReLU(OneInput):
    """``x``, with negative elements multiplied by `negative_slope`.

    Parameters
    ----------
    negative_slope : float, default 0.01
    inplace : bool, default False
        Whether to write to the input.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.LeakyReLU(0.1)(wg.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    _function = F.leaky_relu
    _shown = "negative_slope={negative_slope}"
    negative_slope: float = 0.01
    inplace: bool = False


@layer
class Softshrink(OneInput):
    """``x`` moved towards 0 by `lambd`.

    Parameters
    ----------
    lambd : float, default 0.5
    """

    _function = F.softshrink
    _shown = "{lambd}"
    lambd: float = 0.5


class PReLU(Module):
    """``x``, with negative elements multiplied by a slope that is learned.

    Parameters
    ----------
    num_parameters : int, default 1
        One slope, or one for each channel (dimension 1).
    init : float, default 0.25
        Where the slopes start.
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        [num_parameters]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(wengert.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to where they start."""
        with wengert.no_grad():
            self.weight.fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        return f"num_parameters={self.num_parameters}"
