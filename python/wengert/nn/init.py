"""Initialisation: functions that fill tensors in place, without recording, and return them.

The distributions and their names are PyTorch's. A fan is how many elements of the input (`fan_in`) or of the output
(`fan_out`) one element of the other is connected to.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import wengert
from wengert._C import Tensor

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

_GAINS = {"sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_LINEAR = {"linear", *(f"{name}{n}d" for name in ("conv", "conv_transpose") for n in (1, 2, 3))}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor by which weights before a nonlinearity are larger, so that variances stay.

    Parameters
    ----------
    nonlinearity : str
        The name of a function: ``linear``, ``conv2d``, ``sigmoid``, ``tanh``, ``relu``, ``leaky_relu``, ``selu``.
    param : float, optional
        The negative slope of ``leaky_relu``, 0.01 by default.

    Raises
    ------
    ValueError
        If the name is not known, or the slope no number.

    Examples
    --------
    >>> import wengert as wg
    >>> round(wg.nn.init.calculate_gain("leaky_relu", 0.2), 4)
    1.3868
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Draw from the uniform distribution between `a` and `b`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.init.uniform_(wg.empty(3, 5)).shape
    wengert.Size([3, 5])
    """
    with wengert.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Draw from the normal distribution."""
    with wengert.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Draw from the normal distribution, restricted to the values between `a` and `b`.

    The inverse of the distribution function is applied to uniform numbers between its values at both bounds.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2))) for bound in (a, b))
    with wengert.no_grad():
        tensor.uniform_(low, high, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with a number."""
    with wengert.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    Raises
    ------
    ValueError
        If there are not two dimensions.
    """
    if tensor.ndim != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, but got {tensor.ndim}")
    with wengert.no_grad():
        tensor.zero_().fill_diagonal_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it keeps its input, as far as there are channels.

    Parameters
    ----------
    tensor : Tensor
        [out_channels, in_channels / groups, ...] with 1, 2 or 3 dimensions of space.
    groups : int, default 1

    Raises
    ------
    ValueError
        If dimensions or groups do not fit.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.init.dirac_(wg.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(f"Only tensors with 3, 4, or 5 dimensions are supported, but got {tensor.ndim}")
    if tensor.shape[0] % groups:
        raise ValueError(f"dim 0 must be divisible by groups, but got {tensor.shape[0]} and groups={groups}")
    out = tensor.shape[0] // groups
    middle = tuple(length // 2 for length in tensor.shape[2:])
    with wengert.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(out, tensor.shape[1])):
                tensor[(group * out + channel, channel, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return both fans of the weight of a linear map or a convolution."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Draw uniformly with the standard deviation of `xavier_normal_`."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Draw normally with standard deviation ``gain * sqrt(2 / (fan_in + fan_out))`` (Glorot and Bengio, 2010)."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """Return the standard deviation; None, with a warning, if there is nothing to draw."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Draw uniformly with the standard deviation of `kaiming_normal_`."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Draw normally with standard deviation ``gain / sqrt(fan)`` (He et al., 2015).

    Parameters
    ----------
    tensor : Tensor
        With at least two dimensions.
    a : float, default 0
        The negative slope, for ``leaky_relu``.
    mode : {'fan_in', 'fan_out'}
        Whether variances stay in forward or in backward.
    nonlinearity : str
        See `calculate_gain`.
    generator : Generator, optional

    Returns
    -------
    Tensor
        The one given.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions, or a name is not known.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with an orthogonal matrix, times `gain`; further dimensions count as columns (Saxe et al., 2013).

    It is the Q of a normal matrix, with the signs that make it uniformly distributed (Mezzadri, 2007).

    Raises
    ------
    ValueError
        If there are fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError(f"Only tensors with 2 or more dimensions are supported, but got {tensor.ndim}")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    with wengert.no_grad():
        drawn = wengert.empty(rows, columns, dtype=tensor.dtype, device=tensor.device).normal_(
            0, 1, generator=generator
        )
        q, r = wengert.linalg.qr(drawn.mT if rows < columns else drawn)
        q = q * r.diagonal().sign()
        tensor.copy_((q.mT if rows < columns else q).reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normal numbers, with zeros for a share of each column (Martens, 2010).

    Parameters
    ----------
    tensor : Tensor
        With two dimensions.
    sparsity : float
        The share of zeros, rounded up to whole rows.
    std : float, default 0.01
    generator : Generator, optional

    Raises
    ------
    ValueError
        If there are not two dimensions.
    """
    if tensor.ndim != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, but got {tensor.ndim}")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with wengert.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[wengert.randperm(rows)[:zeros], column] = 0
    return tensor


def _draw_bias(bias: Tensor | None, weight: Tensor) -> None:
    """Draw a bias as PyTorch's layers do: uniformly within ``1 / sqrt(fan_in)`` of their weight."""
    if bias is not None:
        fan_in, _ = _calculate_fan_in_and_fan_out(weight)
        if fan_in > 0:
            uniform_(bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))


def _renamed(name: str) -> Any:
    """Return a function under its old name, without the underscore."""

    def function(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2)
        return globals()[f"{name}_"](*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The old name of `{name}_`."
    return function


uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal = map(
    _renamed,
    ("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
     "kaiming_normal"),
)  # fmt: skip
orthogonal, sparse = map(_renamed, ("orthogonal", "sparse"))
