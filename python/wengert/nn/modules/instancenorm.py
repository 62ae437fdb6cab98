"""Instance normalisation: each channel of each sample is normalised over space."""

from __future__ import annotations

import warnings
from typing import Any

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .batchnorm import _LazyNorm, _NormBase

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]  # fmt: skip


class _InstanceNorm(_NormBase):
    """What instance norms share; `_dims` are the numbers of dimensions without and with a batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise; in training, running statistics move towards those of the input."""
        self._check_input_dim(input)
        batched = input.ndim == self._dims[1]
        channels = input.shape[1 if batched else 0]
        if channels != self.num_features:
            what = f"input's size at dim={1 if batched else 0} does not match num_features"
            if self.affine:
                raise ValueError(f"expected {what} ({self.num_features}), but got: {channels}.")
            warnings.warn(f"{what}. You can silence this warning by not passing in num_features.", stacklevel=3)
        use_input = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        result = F.instance_norm(
            input if batched else input.unsqueeze(0), self.running_mean, self.running_var, self.weight, self.bias,
            use_input, momentum, self.eps,
        )  # fmt: skip
        return result if batched else result.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` for each channel of each sample, [N, C, L] or [C, L].

    Parameters
    ----------
    num_features : int
        C
    eps : float, default 1e-5
    momentum : float, default 0.1
    affine : bool, default False
        Whether there are `weight` and `bias`.
    track_running_stats : bool, default False
        Whether there are running statistics, for evaluation.
    device : device, optional
    dtype : dtype, optional
    bias : bool, default True

    Raises
    ------
    ValueError
        When called with another number of dimensions, or of channels if `affine`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.InstanceNorm1d(1)(wg.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """`InstanceNorm1d` of images, [N, C, H, W] or [C, H, W]."""

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """`InstanceNorm1d` of volumes, [N, C, D, H, W] or [C, D, H, W]."""

    _dims = (4, 5)


class _LazyInstanceNorm(_LazyNorm):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """`InstanceNorm1d` that takes `num_features` from its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """`InstanceNorm2d` that takes `num_features` from its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """`InstanceNorm3d` that takes `num_features` from its first input."""

    cls_to_become = InstanceNorm3d
