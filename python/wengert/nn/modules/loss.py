"""Losses: numbers that say how far outputs are from targets.

All have ``reduction``: ``'mean'``, ``'sum'``, or ``'none'`` for the losses of all elements. ``size_average`` and
``reduce`` are how old programs said the same.
"""

from __future__ import annotations

import warnings
from typing import Any

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._layers.function_layer import layer
from .._layers.linear_cross_entropy import LinearCrossEntropyLoss
from .._layers.loss_base import _Loss, _Reduced, _WeightedLoss, _WeightedReduced
from .._layers.margin_losses import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss", "MarginRankingLoss",
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss",
    "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


@layer
class L1Loss(_Reduced, _Loss):
    """``abs(input - target)``.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.L1Loss()(wg.ones(2), wg.zeros(2))
    tensor(1.)
    """

    _function = F.l1_loss


@layer
class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the right class, given log-probabilities [N, C, ...] and classes [N, ...].

    Parameters
    ----------
    weight : Tensor, optional
        [C]: how much each class counts.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    ignore_index : int, default -100
        The class of elements that do not count.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.nll_loss
    _passed = ("weight", "ignore_index", "reduction")
    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss` for images."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn("NLLLoss2d has been deprecated. Please use NLLLoss instead.", FutureWarning, stacklevel=2)
        super().__init__(*args, **kwargs)


@layer
class PoissonNLLLoss(_Loss):
    """Minus the log-likelihood of counts under Poisson distributions, of which outputs are the (log) rates.

    Parameters
    ----------
    log_input : bool, default True
        Whether outputs are logarithms.
    full : bool, default False
        Whether Stirling's approximation of the constant is added.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    eps : float, default 1e-8
        Added to rates before their logarithm is taken.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.poisson_nll_loss
    _passed = ("log_input", "full", "eps", "reduction")
    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.poisson_nll_loss(log_input, target, *self._values(self))


@layer
class GaussianNLLLoss(_Loss):
    """Minus the log-likelihood of targets under normal distributions with the given means and variances.

    Parameters
    ----------
    full : bool, default False
        Whether the constant is added.
    eps : float, default 1e-6
        The least variance.
    reduction : {'mean', 'sum', 'none'}
    """

    _keyword_only = True
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        """Return the loss."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


@layer
class KLDivLoss(_Reduced, _Loss):
    """``target * (log(target) - input)``, where `input` holds log-probabilities.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'batchmean', 'sum', 'none'}
        ``'batchmean'`` divides by the size of the batch, which is the mathematical divergence.
    log_target : bool, default False
        Whether targets are logarithms too.
    """

    _function = F.kl_div
    _passed = ("reduction", "log_target")
    log_target: bool = False


@layer
class MSELoss(_Reduced, _Loss):
    """``(input - target)**2``.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.MSELoss()(wg.full((2,), 3.0), wg.zeros(2))
    tensor(9.)
    """

    _function = F.mse_loss


@layer
class BCELoss(_WeightedReduced, _WeightedLoss):
    """Minus the log-probability of targets between 0 and 1, given probabilities.

    Parameters
    ----------
    weight : Tensor, optional
        How much each element counts.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.binary_cross_entropy


@layer
class BCEWithLogitsLoss(_WeightedReduced, _Loss):
    """`BCELoss` of the sigmoid of outputs, exact in the tails.

    Parameters
    ----------
    weight : Tensor, optional
        How much each element counts.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    pos_weight : Tensor, optional
        How much targets of 1 count.
    """

    _function = F.binary_cross_entropy_with_logits
    _passed = ("weight", "reduction", "pos_weight")
    pos_weight: Tensor | None = None


@layer
class SmoothL1Loss(_Reduced, _Loss):
    """``d**2 / (2 beta)`` where ``d = abs(input - target)`` is below `beta`, else ``d - beta / 2``.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    beta : float, default 1
    """

    _function = F.smooth_l1_loss
    _passed = ("reduction", "beta")
    beta: float = 1.0


@layer
class HuberLoss(_Loss):
    """``d**2 / 2`` where ``d = abs(input - target)`` is below `delta`, else ``delta * (d - delta / 2)`` (Huber, 1964).

    Parameters
    ----------
    reduction : {'mean', 'sum', 'none'}
    delta : float, default 1
    """

    _function = F.huber_loss
    reduction: str = "mean"
    delta: float = 1.0


@layer
class CrossEntropyLoss(_WeightedLoss):
    """Minus the log-probability of the right class, given scores [N, C, ...] and classes [N, ...] or probabilities.

    Parameters
    ----------
    weight : Tensor, optional
        [C]: how much each class counts.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    ignore_index : int, default -100
        The class of elements that do not count.
    reduction : {'mean', 'sum', 'none'}
    label_smoothing : float, default 0
        The share of each target that is spread over all classes.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.CrossEntropyLoss()(wg.zeros(1, 2), wg.tensor([0]))
    tensor(0.6931)
    """

    _function = F.cross_entropy
    _passed = ("weight", "ignore_index", "reduction", "label_smoothing")
    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


@layer
class MultiLabelSoftMarginLoss(_WeightedReduced, _WeightedLoss):
    """`BCEWithLogitsLoss`, averaged over classes.

    Parameters
    ----------
    weight : Tensor, optional
        [C]: how much each class counts.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.multilabel_soft_margin_loss


@layer
class CTCLoss(_Loss):
    """Minus the log-probability of sequences of labels, summed over all alignments (Graves et al., 2006).

    Parameters
    ----------
    blank : int, default 0
        The class between labels.
    reduction : {'mean', 'sum', 'none'}
    zero_infinity : bool, default False
        Whether losses of sequences that are too long are zero.
    """

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        """Return the loss."""
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, *self._values(self))
