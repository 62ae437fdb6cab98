"""Channels that become pixels, and back."""

from __future__ import annotations

from .. import functional as F  # noqa: N812
from .._layers.function_layer import OneInput, layer

__all__ = ["PixelShuffle", "PixelUnshuffle"]


@layer
class PixelShuffle(OneInput):
    """[..., C r^2, H, W] as [..., C, H r, W r] (Shi et al., 2016).

    Parameters
    ----------
    upscale_factor : int
        r

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.PixelShuffle(3)(wg.ones(1, 9, 4, 4)).shape
    wengert.Size([1, 1, 12, 12])
    """

    _function = F.pixel_shuffle
    _shown = "upscale_factor={upscale_factor}"
    upscale_factor: int


@layer
class PixelUnshuffle(OneInput):
    """[..., C, H r, W r] as [..., C r^2, H, W].

    Parameters
    ----------
    downscale_factor : int
        r
    """

    _function = F.pixel_unshuffle
    _shown = "downscale_factor={downscale_factor}"
    downscale_factor: int
