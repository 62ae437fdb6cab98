"""Upsampling: images are made larger."""

from __future__ import annotations

from typing import Any, ClassVar

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Interpolation of [N, C, ...] with one to three dimensions of space.

    Parameters
    ----------
    size : int or tuple of int, optional
        The size of the result.
    scale_factor : float or tuple of float, optional
        How much larger it is; one of both is given.
    mode : {'nearest', 'linear', 'bilinear', 'bicubic', 'trilinear', 'area', 'nearest-exact'}
    align_corners : bool, optional
        Whether the corners of input and result are the same points.
    recompute_scale_factor : bool, optional
        Whether the factor is computed again from the size of the result.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Upsample(scale_factor=2)(wg.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name, self.size = type(self).__name__, size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Interpolate."""
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        what = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{what}, mode={self.mode!r}"


class _Upsampling2d(Upsample):
    _mode: ClassVar[str]
    _align_corners: ClassVar[bool | None] = None

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, self._mode, self._align_corners)


class UpsamplingNearest2d(_Upsampling2d):
    """`Upsample` of images by nearest neighbours.

    Parameters
    ----------
    size : int or tuple of int, optional
    scale_factor : float or tuple of float, optional
    """

    _mode = "nearest"


class UpsamplingBilinear2d(_Upsampling2d):
    """`Upsample` of images by bilinear interpolation, with corners aligned.

    Parameters
    ----------
    size : int or tuple of int, optional
    scale_factor : float or tuple of float, optional
    """

    _mode, _align_corners = "bilinear", True
