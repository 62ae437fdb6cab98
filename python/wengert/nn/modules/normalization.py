"""Normalisation over dimensions of one sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._layers.affine import Affine
from .._layers.function_layer import OneInput, layer

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


@layer
class LocalResponseNorm(OneInput):
    """``x / (k + alpha * mean(x**2 over neighbouring channels)) ** beta`` (Krizhevsky et al., 2012).

    Parameters
    ----------
    size : int
        How many channels are neighbours.
    alpha : float, default 1e-4
    beta : float, default 0.75
    k : float, default 1
    """

    _function = F.local_response_norm
    _shown = "{size}, alpha={alpha}, beta={beta}, k={k}"
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0


@layer
class CrossMapLRN2d(OneInput):
    """`LocalResponseNorm` under the name that it had in Torch.

    PyTorch's class of this name counts the first channel among the neighbours of all that are further than its size.

    Parameters
    ----------
    size : int
    alpha : float, default 1e-4
    beta : float, default 0.75
    k : float, default 1
    """

    _function = F.local_response_norm
    _shown = "{size}, alpha={alpha}, beta={beta}, k={k}"
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1


def _shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class LayerNorm(Affine):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last dimensions (Ba et al., 2016).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The shape of the last dimensions.
    eps : float, default 1e-5
    elementwise_affine : bool, default True
        Whether there are `weight` and `bias`.
    bias : bool, default True
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight, bias : Parameter or None
        In `normalized_shape`; ones and zeros at first.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.LayerNorm(2, elementwise_affine=False)(wg.tensor([1.0, 3.0]))
    tensor([-1.0000,  1.0000])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        there = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        self._make_affine(self.normalized_shape, device, dtype, **there)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Normalise."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Affine):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels of [N, C, ...] (Wu and He, 2018).

    Parameters
    ----------
    num_groups, num_channels : int
    eps : float, default 1e-5
    affine : bool, default True
        Whether there are `weight` and `bias`.
    device : device, optional
    dtype : dtype, optional
    bias : bool, default True

    Attributes
    ----------
    weight, bias : Parameter or None
        [num_channels]; ones and zeros at first.

    Raises
    ------
    ValueError
        If `num_channels` is not divisible by `num_groups`.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels must be divisible by num_groups, but got num_channels={num_channels} and "
                f"num_groups={num_groups}"
            )
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make_affine(num_channels, device, dtype, weight=affine, bias=affine and bias)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Normalise."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        sizes = f"{self.num_groups}, {self.num_channels}"
        return f"{sizes}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class RMSNorm(Affine):
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last dimensions (Zhang and Sennrich, 2019).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The shape of the last dimensions.
    eps : float, optional
        The precision of the input's dtype by default.
    elementwise_affine : bool, default True
        Whether there is a `weight`.
    device : device, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter or None
        In `normalized_shape`; ones at first.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        self._make_affine(self.normalized_shape, device, dtype, weight=elementwise_affine)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Normalise."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
