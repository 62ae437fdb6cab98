"""Convolutions and their transposes, in one, two and three dimensions of space."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .. import init
from .._layers.sizes import repeated
from .._module import Module
from .._parameter import Parameter
from .._uninitialized import UninitializedParameter
from .lazy import LazyLayer

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip

_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """What convolutions share; `_n` is the number of dimensions of space, `_function` the row of the table."""

    _n: ClassVar[int]
    _function: ClassVar[Callable[..., Tensor]]
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode)
        self._make_parameters(bias, device, dtype)

    def _set_up(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        groups: int, padding_mode: str, transposed: bool = False, output_padding: Any = 0,
    ) -> None:  # fmt: skip
        """Check and keep the constants."""
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, but got {groups}")
        for what, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{what} must be divisible by groups, but got {channels} and groups={groups}")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{padding_mode}'")
        n = self._n
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = repeated(kernel_size, n), repeated(stride, n)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of ('same', 'valid')")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        self.padding: Any = padding if isinstance(padding, str) else repeated(padding, n)
        self.dilation, self.transposed = repeated(dilation, n), transposed
        self.output_padding, self.groups, self.padding_mode = repeated(output_padding, n), groups, padding_mode
        self._around = self._padding_around()

    def _padding_around(self) -> list[int]:
        """Return how much is padded on both sides of each dimension, the last one first, as `pad` takes it."""
        if self.padding == "valid":
            return [0] * (2 * self._n)
        if isinstance(self.padding, str):
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [side for t in reversed(total) for side in (t // 2, t - t // 2)]
        return [p for p in reversed(self.padding) for _ in range(2)]

    def _weight_shape(self) -> tuple[int, ...]:
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        return (first, second // self.groups, *self.kernel_size)

    def _make_parameters(self, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = Parameter(wengert.empty(self._weight_shape(), device=device, dtype=dtype))
        given = Parameter(wengert.empty(self.out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", given)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        init._draw_bias(self.bias, self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve [N, in_channels, ...] or [in_channels, ...]."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._around, mode=self.padding_mode), 0
        return self._function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, usual in (
            ("padding", (0,) * self._n),
            ("dilation", (1,) * self._n),
            ("output_padding", (0,) * self._n),
            ("groups", 1),
        ):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


class Conv1d(_ConvNd):
    """Convolution (cross-correlation) of [N, C, L] or [C, L].

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, dilation : int or tuple of int
        `stride` and `dilation` are 1 by default.
    padding : int, tuple of int, 'valid' or 'same'
        How much is added on both sides; 0 by default.
    groups : int, default 1
        How many parts the channels fall into, each with a convolution of its own.
    bias : bool, default True
    padding_mode : {'zeros', 'reflect', 'replicate', 'circular'}
        What is added.
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        [out_channels, in_channels / groups, ...kernel_size]; at first uniform between plus and minus
        ``1 / sqrt(fan_in)``.
    bias : Parameter or None
        [out_channels]; drawn likewise.

    Raises
    ------
    ValueError
        If channels are not divisible by `groups`, or a padding is not known.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Conv1d(16, 33, 3, stride=2)(wg.randn(20, 16, 50)).shape
    wengert.Size([20, 33, 24])
    """

    _n, _function = 1, F.conv1d


class Conv2d(_ConvNd):
    """Convolution (cross-correlation) of images, [N, C, H, W] or [C, H, W]; arguments are those of `Conv1d`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Conv2d(3, 8, (3, 5), padding=(1, 2))(wg.randn(2, 3, 6, 6)).shape
    wengert.Size([2, 8, 6, 6])
    """

    _n, _function = 2, F.conv2d


class Conv3d(_ConvNd):
    """Convolution (cross-correlation) of volumes, [N, C, D, H, W] or [C, D, H, W]; arguments are those of `Conv1d`."""

    _n, _function = 3, F.conv3d


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions share."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        Module.__init__(self)
        self._set_up(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            True,
            output_padding,
        )
        self._make_parameters(bias, device, dtype)

    def _output_padding(self, input: Tensor, output_size: Any) -> Any:
        """Return the padding with which the result has a size; there are `stride` sizes to choose from."""
        if output_size is None:
            return self.output_padding
        n = self._n
        sizes = tuple(output_size)
        if len(sizes) == input.ndim:
            sizes = sizes[-n:]
        if len(sizes) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.ndim}D input, output_size must have {n} or {input.ndim} elements "
                f"(got {len(sizes)})"
            )
        lowest = [
            (length - 1) * s - 2 * p + d * (k - 1) + 1
            for length, s, p, d, k in zip(
                input.shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        highest = [low + s - 1 for low, s in zip(lowest, self.stride, strict=True)]
        if any(not low <= size <= high for size, low, high in zip(sizes, lowest, highest, strict=True)):
            raise ValueError(
                f"requested an output size of {sizes}, but valid sizes range from {lowest} to {highest} (for an input "
                f"of {input.shape[-n:]})"
            )
        return tuple(size - low for size, low in zip(sizes, lowest, strict=True))

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Convolve [N, in_channels, ...] or [in_channels, ...]; `output_size` chooses among the possible sizes."""
        more = self._output_padding(input, output_size)
        return self._function(
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """The linear map that is transposed to `Conv1d`: its derivative, which makes a longer sequence of a shorter one.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, dilation : int or tuple of int
        Those of the convolution.
    output_padding : int or tuple of int, default 0
        How much longer the result is, of the lengths that the convolution maps to the same one.
    groups : int, default 1
    bias : bool, default True
    padding_mode : {'zeros'}
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        [in_channels, out_channels / groups, ...kernel_size]; drawn as that of `Conv1d`.
    bias : Parameter or None
        [out_channels]

    Raises
    ------
    ValueError
        If channels are not divisible by `groups`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.ConvTranspose1d(4, 2, 3, stride=2)(wg.randn(1, 4, 5)).shape
    wengert.Size([1, 2, 11])
    """

    _n, _function = 1, F.conv_transpose1d


class ConvTranspose2d(_ConvTransposeNd):
    """The linear map that is transposed to `Conv2d`; arguments are those of `ConvTranspose1d`."""

    _n, _function = 2, F.conv_transpose2d


class ConvTranspose3d(_ConvTransposeNd):
    """The linear map that is transposed to `Conv3d`; arguments are those of `ConvTranspose1d`."""

    _n, _function = 3, F.conv_transpose3d


class _LazyNd(LazyLayer):
    """What lazy convolutions share; they stand before the convolution that they become."""

    _from_input = "in_channels"

    def _forget_parameters(self, out_channels: int, device: Any, dtype: Any) -> None:
        layer: Any = self
        layer.out_channels = out_channels
        layer.weight = UninitializedParameter(device=device, dtype=dtype)
        if layer.bias is not None:
            layer.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self, input: Tensor, *_: Any, **__: Any) -> None:
        """Make the parameters from the first input."""
        layer: Any = self
        if self.has_uninitialized_params():
            n = layer._n
            if input.ndim not in (n + 1, n + 2):
                raise RuntimeError(
                    f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {self._get_name()}, but got input "
                    f"of size: {input.shape}"
                )
            layer.in_channels = input.shape[-n - 1]
            if layer.in_channels % layer.groups:
                raise ValueError(
                    f"in_channels must be divisible by groups, but got {layer.in_channels} and groups={layer.groups}"
                )
            layer.weight.materialize(layer._weight_shape())
            if layer.bias is not None:
                layer.bias.materialize((layer.out_channels,))
            layer.reset_parameters()


class _LazyConv(_LazyNd):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype)
        self._forget_parameters(out_channels, device, dtype)


class _LazyConvTranspose(_LazyNd):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode, device, dtype
        )
        self._forget_parameters(out_channels, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """`Conv1d` that takes `in_channels` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """`Conv2d` that takes `in_channels` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """`Conv3d` that takes `in_channels` from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """`ConvTranspose1d` that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """`ConvTranspose2d` that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """`ConvTranspose3d` that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose3d
