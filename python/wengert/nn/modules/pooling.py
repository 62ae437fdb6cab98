"""Pooling: maxima, means and norms over windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._layers.function_layer import FunctionLayer, OneInput, layer
from .._layers.sizes import repeated
from .._module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d",
    "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


@layer
class _MaxPoolNd(OneInput):
    _passed = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
    _shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False

    def _prepare(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size


@layer
class MaxPool1d(_MaxPoolNd):
    """Maxima over windows of [N, C, L] or [C, L].

    Parameters
    ----------
    kernel_size : int or tuple of int
        The windows' size.
    stride : int or tuple of int, optional
        Their distance; `kernel_size` by default.
    padding : int or tuple of int, default 0
        How much -inf is added on both sides.
    dilation : int or tuple of int, default 1
        The distance of elements in a window.
    return_indices : bool, default False
        Whether to return as well where in its plane each maximum stands, as `MaxUnpool1d` takes it.
    ceil_mode : bool, default False
        Whether a last, incomplete window counts.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.MaxPool1d(2)(wg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    _function = F.max_pool1d


@layer
class MaxPool2d(_MaxPoolNd):
    """Maxima over windows of images, [N, C, H, W] or [C, H, W]; arguments are those of `MaxPool1d`."""

    _function = F.max_pool2d


@layer
class MaxPool3d(_MaxPoolNd):
    """Maxima over windows of volumes, [N, C, D, H, W] or [C, D, H, W]; arguments are those of `MaxPool1d`."""

    _function = F.max_pool3d


@layer
class _MaxUnpoolNd(FunctionLayer):
    _n: ClassVar[int]
    _shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
    kernel_size: Any
    stride: Any = None
    padding: Any = 0

    def _prepare(self) -> None:
        self.kernel_size = repeated(self.kernel_size, self._n)
        self.stride = self.kernel_size if self.stride is None else repeated(self.stride, self._n)
        self.padding = repeated(self.padding, self._n)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Put the maxima back to where `indices` say; `output_size` chooses among the possible sizes."""
        result: Tensor = self._function(input, indices, *self._values(self), output_size)
        return result


@layer
class MaxUnpool1d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool1d`: maxima stand where they were, zeros elsewhere.

    Parameters
    ----------
    kernel_size : int or tuple of int
    stride : int or tuple of int, optional
        `kernel_size` by default.
    padding : int or tuple of int, default 0

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([[1.0, 3.0, 2.0, 0.0]])
    >>> wg.nn.MaxUnpool1d(2)(*wg.nn.MaxPool1d(2, return_indices=True)(x))
    tensor([[0., 3., 2., 0.]])
    """

    _n, _function = 1, F.max_unpool1d


@layer
class MaxUnpool2d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool2d`; arguments are those of `MaxUnpool1d`."""

    _n, _function = 2, F.max_unpool2d


@layer
class MaxUnpool3d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool3d`; arguments are those of `MaxUnpool1d`."""

    _n, _function = 3, F.max_unpool3d


@layer
class _AvgPoolNd(OneInput):
    _shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def _prepare(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size


@layer
class AvgPool1d(_AvgPoolNd):
    """Means over windows of [N, C, L] or [C, L].

    Parameters
    ----------
    kernel_size : int or tuple of int
        The windows' size.
    stride : int or tuple of int, optional
        Their distance; `kernel_size` by default.
    padding : int or tuple of int, default 0
        How many zeros are added on both sides.
    ceil_mode : bool, default False
        Whether a last, incomplete window counts.
    count_include_pad : bool, default True
        Whether the zeros count.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.AvgPool1d(2)(wg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    _function = F.avg_pool1d

    def _prepare(self) -> None:
        super()._prepare()
        self.kernel_size, self.stride, self.padding = (
            repeated(v, 1) for v in (self.kernel_size, self.stride, self.padding)
        )


@layer
class AvgPool2d(_AvgPoolNd):
    """Means over windows of images, [N, C, H, W] or [C, H, W].

    Arguments are those of `AvgPool1d`, and ``divisor_override``: what sums are divided by instead of the windows' size.
    """

    _function = F.avg_pool2d
    divisor_override: int | None = None


@layer
class AvgPool3d(_AvgPoolNd):
    """Means over windows of volumes, [N, C, D, H, W] or [C, D, H, W]; arguments are those of `AvgPool2d`."""

    _function = F.avg_pool3d
    divisor_override: int | None = None


@layer
class _LPPoolNd(OneInput):
    _shown = "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"
    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False


@layer
class LPPool1d(_LPPoolNd):
    """``sum(x ** norm_type) ** (1 / norm_type)`` over windows of [N, C, L] or [C, L].

    Parameters
    ----------
    norm_type : float
    kernel_size : int or tuple of int
        The windows' size.
    stride : int or tuple of int, optional
        Their distance; `kernel_size` by default.
    ceil_mode : bool, default False
        Whether a last, incomplete window counts.
    """

    _function = F.lp_pool1d


@layer
class LPPool2d(_LPPoolNd):
    """The same over windows of images, [N, C, H, W] or [C, H, W]; arguments are those of `LPPool1d`."""

    _function = F.lp_pool2d


@layer
class LPPool3d(_LPPoolNd):
    """The same over windows of volumes, [N, C, D, H, W] or [C, D, H, W]; arguments are those of `LPPool1d`."""

    _function = F.lp_pool3d


@layer
class _AdaptiveAvgPoolNd(OneInput):
    _shown = "output_size={output_size}"
    output_size: Any


@layer
class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means over windows that divide [N, C, L] or [C, L] into parts.

    Parameters
    ----------
    output_size : int or tuple of int or None
        The number of parts; None keeps a size.
    """

    _function = F.adaptive_avg_pool1d


@layer
class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means over windows that divide images into parts; arguments are those of `AdaptiveAvgPool1d`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.AdaptiveAvgPool2d((5, None))(wg.randn(1, 64, 10, 9)).shape
    wengert.Size([1, 64, 5, 9])
    """

    _function = F.adaptive_avg_pool2d


@layer
class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means over windows that divide volumes into parts; arguments are those of `AdaptiveAvgPool1d`."""

    _function = F.adaptive_avg_pool3d


@layer
class _AdaptiveMaxPoolNd(OneInput):
    _shown = "output_size={output_size}"
    output_size: Any
    return_indices: bool = False


@layer
class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima over windows that divide [N, C, L] or [C, L] into parts.

    Parameters
    ----------
    output_size : int or tuple of int or None
        The number of parts; None keeps a size.
    return_indices : bool, default False
        Whether to return as well where in its plane each maximum stands.
    """

    _function = F.adaptive_max_pool1d


@layer
class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima over windows that divide images into parts; arguments are those of `AdaptiveMaxPool1d`."""

    _function = F.adaptive_max_pool2d


@layer
class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima over windows that divide volumes into parts; arguments are those of `AdaptiveMaxPool1d`."""

    _function = F.adaptive_max_pool3d


class _FractionalMaxPoolNd(Module):
    _n: ClassVar[int]
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name, n = type(self).__name__, self._n
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size, self.return_indices = repeated(kernel_size, n), return_indices
        self.output_size = None if output_size is None else repeated(output_size, n)
        self.output_ratio = None if output_ratio is None else repeated(output_ratio, n)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Tensor) -> Any:
        """Pool; the windows stand elsewhere at each call, unless samples were given."""
        return self._function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maxima over windows at random, nearly equal distances of images, [N, C, H, W] or [C, H, W] (Graham, 2015).

    Parameters
    ----------
    kernel_size : int or tuple of int
        The windows' size.
    output_size : int or tuple of int, optional
        How many windows there are.
    output_ratio : float or tuple of float, optional
        How many there are as a share of the input's size; one of both is given.
    return_indices : bool, default False
        Whether to return as well where in its plane each maximum stands.

    Raises
    ------
    ValueError
        If not exactly one of `output_size` and `output_ratio` is given, or a ratio is not between 0 and 1.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.FractionalMaxPool2d(3, output_ratio=0.5)(wg.randn(2, 4, 10, 8)).shape
    wengert.Size([2, 4, 5, 4])
    """

    _n, _function = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The same of volumes, [N, C, D, H, W] or [C, D, H, W]; arguments are those of `FractionalMaxPool2d`."""

    _n, _function = 3, staticmethod(F.fractional_max_pool3d)
