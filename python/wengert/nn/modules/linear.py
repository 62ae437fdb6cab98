"""Linear maps."""

from __future__ import annotations

import math
from typing import Any

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .. import init
from .._module import Module
from .._parameter import Parameter
from .._uninitialized import UninitializedParameter
from .lazy import LazyLayer

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Returns its input; takes any arguments, so that it can stand for any layer.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Identity(54, bias=False)(wg.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Module):
    """``x @ weight.T + bias``.

    Parameters
    ----------
    in_features, out_features : int
        The lengths of the last dimension of inputs and results.
    bias : bool, default True
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        [out_features, in_features]; uniform between plus and minus ``1 / sqrt(in_features)`` at first.
    bias : Parameter or None
        [out_features]; drawn likewise.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Linear(20, 30)(wg.randn(128, 20)).shape
    wengert.Size([128, 30])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(wengert.empty(out_features, in_features, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(wengert.empty(out_features, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        init._draw_bias(self.bias, self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the map to the last dimension."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under the name that it has inside of attention, where PyTorch does not quantise it."""


class Bilinear(Module):
    """``x1 @ weight[k] @ x2 + bias[k]`` for every ``k``.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
        The lengths of the last dimension of both inputs and of results.
    bias : bool, default True
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        [out_features, in1_features, in2_features]; uniform between plus and minus ``1 / sqrt(in1_features)`` at first.
    bias : Parameter or None
        [out_features]; drawn likewise.

    Raises
    ------
    ValueError
        If `in1_features` is not positive.
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(wengert.empty(out_features, in1_features, in2_features, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(wengert.empty(out_features, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias again."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the form to the last dimensions."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(LazyLayer, Linear):
    """`Linear` that takes `in_features` from its first input.

    Parameters
    ----------
    out_features : int
    bias : bool, default True
    device : device, optional
    dtype : dtype, optional

    Examples
    --------
    >>> import wengert as wg
    >>> layer = wg.nn.LazyLinear(3)
    >>> _ = layer(wg.ones(2, 5))
    >>> layer
    Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become = Linear
    _from_input = "in_features"

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self, input: Tensor) -> None:
        """Make the parameters from the first input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            weight, bias = (p if isinstance(p, UninitializedParameter) else None for p in (self.weight, self.bias))
            if weight is not None:
                weight.materialize((self.out_features, self.in_features))
            if bias is not None:
                bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]
