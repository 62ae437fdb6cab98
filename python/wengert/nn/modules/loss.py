"""Losses: numbers that say how far outputs are from targets.

All have ``reduction``: ``'mean'``, ``'sum'``, or ``'none'`` for the losses of all elements. ``size_average`` and
``reduce`` are how old programs said the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from ._function_layer import FunctionLayer, layer
from .distance import PairwiseDistance
from .linear import Linear

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss", "MarginRankingLoss",
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss",
    "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


def _reduction_of_old(size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction that two old arguments mean."""
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=6
    )
    return reduction


class _Loss(FunctionLayer):
    """A loss of an output and its target; tensors among its constants are buffers."""

    reduction: str

    def _register(self) -> None:
        held = self.__dict__
        size_average, reduce = held.pop("size_average", None), held.pop("reduce", None)
        if size_average is not None or reduce is not None:
            self.reduction = _reduction_of_old(size_average, reduce)
        for name in ("weight", "pos_weight"):
            if name in self._constants:
                self.register_buffer(name, held.pop(name))

    @classmethod
    def _made_forward(cls) -> Callable[..., Any]:
        function, get = cls._function, cls._values

        def forward(self: Any, input: Any, target: Any) -> Any:
            return function(input, target, *get(self))

        return forward


class _WeightedLoss(_Loss):
    """A loss with a weight for each class or element."""


@layer
class L1Loss(_Loss):
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
    _passed = ("reduction",)
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


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
class KLDivLoss(_Loss):
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
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    log_target: bool = False


@layer
class MSELoss(_Loss):
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
    _passed = ("reduction",)
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


@layer
class BCELoss(_WeightedLoss):
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
    _passed = ("weight", "reduction")
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


@layer
class BCEWithLogitsLoss(_Loss):
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
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    pos_weight: Tensor | None = None


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
class MultiLabelMarginLoss(_Loss):
    """``max(0, 1 - (x[right] - x[other]))`` over all pairs of a right class and another one, divided by C.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.multilabel_margin_loss
    _passed = ("reduction",)
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


@layer
class SmoothL1Loss(_Loss):
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
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
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
class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old forms of `reduction`.
    reduction : {'mean', 'sum', 'none'}
    """

    _function = F.soft_margin_loss
    _passed = ("reduction",)
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


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
class MultiLabelSoftMarginLoss(_WeightedLoss):
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
    _passed = ("weight", "reduction")
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


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


class LinearCrossEntropyLoss(_WeightedLoss):
    """`CrossEntropyLoss` of a linear map of its input, without keeping the map's results.

    Parameters
    ----------
    in_features, num_classes : int
    out_features : tuple of int, default ()
        Further dimensions of targets; there are none here.
    bias : bool, default False
    device : device, optional
    dtype : dtype, optional
    reduction : {'mean', 'sum', 'none'}
    weight : Tensor, optional
        [num_classes]: how much each class counts.
    ignore_index : int, optional
        The class of elements that do not count.
    label_smoothing : float, default 0
    options : None
        What steers PyTorch's ways of computing it.

    Attributes
    ----------
    linear : Linear
        The map.

    Raises
    ------
    NotImplementedError
        If `out_features` or `options` are given.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        super().__init__()
        if out_features or options is not None:
            raise NotImplementedError("LinearCrossEntropyLoss: out_features and options are not supported")
        self.register_buffer("weight", weight)
        self.in_features, self.num_classes, self.reduction = in_features, num_classes, reduction
        self.out_features, self.bias, self.options = out_features, bias, options
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, num_classes, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.linear_cross_entropy(
            input, self.linear.weight, target, linear_bias=self.linear.bias, weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the constants as they are printed."""
        names = (
            "in_features", "num_classes", "out_features", "bias", "reduction", "ignore_index", "label_smoothing",
            "options",
        )  # fmt: skip
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)
