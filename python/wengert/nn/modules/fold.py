"""Windows of images as columns, and back."""

from __future__ import annotations

from typing import Any

from .. import functional as F  # noqa: N812
from .._layers.function_layer import OneInput, layer

__all__ = ["Fold", "Unfold"]


@layer
class Fold(OneInput):
    """Images from columns: where windows overlap, they are added.

    Parameters
    ----------
    output_size, kernel_size : int or tuple of int
        The images' size and the windows'.
    dilation, padding, stride : int or tuple of int
        Of the windows; 1, 0 and 1 by default.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Fold((4, 5), (2, 2))(wg.randn(1, 12, 12)).shape
    wengert.Size([1, 3, 4, 5])
    """

    _function = F.fold
    _shown = (
        "output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"
    )
    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


@layer
class Unfold(OneInput):
    """Columns [N, C * window, windows] from images [N, C, H, W].

    Parameters
    ----------
    kernel_size : int or tuple of int
        The windows' size.
    dilation, padding, stride : int or tuple of int
        Of the windows; 1, 0 and 1 by default.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Unfold((2, 3))(wg.randn(2, 5, 3, 4)).shape
    wengert.Size([2, 30, 4])
    """

    _function = F.unfold
    _shown = "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1
