"""Dropout: in training, random elements or channels are zeroed."""

from __future__ import annotations

from .. import functional as F  # noqa: N812
from .._layers.function_layer import OneInput, layer

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


@layer
class _DropoutNd(OneInput):
    _passed = ("p", "training", "inplace")
    _shown = "p={p}, inplace={inplace}"
    p: float = 0.5
    inplace: bool = False

    def _prepare(self) -> None:
        if self.p < 0 or self.p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")


@layer
class Dropout(_DropoutNd):
    """Each element is zeroed with probability `p` in training, the others are divided by ``1 - p``.

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write to the input.

    Raises
    ------
    ValueError
        If `p` is not between 0 and 1.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.Dropout(0.5).eval()(wg.ones(2))
    tensor([1., 1.])
    """

    _function = F.dropout


@layer
class Dropout1d(_DropoutNd):
    """`Dropout` of whole channels of [N, C, L] or [C, L].

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.dropout1d


@layer
class Dropout2d(_DropoutNd):
    """`Dropout` of whole channels of [N, C, H, W] or [N, C, L].

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.dropout2d


@layer
class Dropout3d(_DropoutNd):
    """`Dropout` of whole channels of [N, C, D, H, W] or [C, D, H, W].

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.dropout3d


@layer
class AlphaDropout(_DropoutNd):
    """`Dropout` that keeps mean and variance of the outputs of `SELU` (Klambauer et al., 2017).

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.alpha_dropout


@layer
class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels.

    Parameters
    ----------
    p : float, default 0.5
    inplace : bool, default False
        Whether to write to the input.
    """

    _function = F.feature_alpha_dropout
