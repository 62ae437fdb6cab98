"""Losses that ask for a margin between what belongs together and what does not."""

from __future__ import annotations

from collections.abc import Callable

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from ..modules.distance import PairwiseDistance
from .function_layer import layer
from .loss_base import _Loss, _Reduced, _WeightedLoss


@layer
class HingeEmbeddingLoss(_Loss):
    """``x`` where the target is 1, ``max(0, margin - x)`` where it is -1.

    Parameters
    ----------
    margin : float, default 1
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.hinge_embedding_loss
    _passed = ("margin", "reduction")
    margin: float = 1.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


@layer
class MultiLabelMarginLoss(_Reduced, _Loss):
    """``max(0, 1 - (x[right] - x[other]))`` over all pairs of a right class and another one, divided by C.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.multilabel_margin_loss


@layer
class SoftMarginLoss(_Reduced, _Loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.soft_margin_loss


@layer
class CosineEmbeddingLoss(_Loss):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1, for the angle between two inputs.

    Parameters
    ----------
    margin : float, default 0
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _passed = ("margin", "reduction")
    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


@layer
class MarginRankingLoss(_Loss):
    """``max(0, -target * (input1 - input2) + margin)``.

    Parameters
    ----------
    margin : float, default 0
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _passed = ("margin", "reduction")
    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


@layer
class MultiMarginLoss(_WeightedLoss):
    """``max(0, margin - x[right] + x[other])**p`` summed over other classes and divided by C.

    Parameters
    ----------
    p : {1, 2}
    margin : float, default 1
    weight : Tensor, optional
        [C]: how much each class counts.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}

    Raises
    ------
    ValueError
        If `p` is another number or `weight` has another number of dimensions.
    """

    _function = F.multi_margin_loss
    _passed = ("p", "margin", "weight", "reduction")
    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def _prepare(self) -> None:
        if self.p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if self.weight is not None and self.weight.ndim != 1:
            raise ValueError(f"weight must be None or have one dimension, but has {self.weight.ndim}")


@layer
class TripletMarginLoss(_Loss):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` for the p-norm distance.

    Parameters
    ----------
    margin : float, default 1
    p : float, default 2
    eps : float, default 1e-6
        Keeps gradients of equal vectors finite.
    swap : bool, default False
        Whether the distance of `positive` and `negative` counts where it is the smaller one.
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}

    Raises
    ------
    ValueError
        If `margin` is not positive.
    """

    _passed = ("margin", "p", "eps", "swap", "reduction")
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def _prepare(self) -> None:
        if self.margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {self.margin} instead")

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        return F.triplet_margin_loss(anchor, positive, negative, *self._values(self))


@layer
class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` for a distance that is given.

    Parameters
    ----------
    distance_function : callable, optional
        Of two tensors; `PairwiseDistance` by default.
    margin : float, default 1
    swap : bool, default False
    reduction : {'mean', 'sum', 'none'}

    Raises
    ------
    ValueError
        If `margin` is not positive.
    """

    _keyword_only = True
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def _prepare(self) -> None:
        if self.margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {self.margin} instead"
            )
        if (distance := self.__dict__.pop("distance_function")) is None:
            distance = PairwiseDistance()
        self.distance_function = distance

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip
