"""Cross entropy of a linear map: the loss that has the last layer of a classifier in it."""

from __future__ import annotations

from typing import Any

from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from ..modules.linear import Linear
from .loss_base import _WeightedLoss


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
        super().__init__(weight, reduction=reduction)
        if out_features or options is not None:
            raise NotImplementedError("LinearCrossEntropyLoss: out_features and options are not supported")
        self.in_features, self.num_classes = in_features, num_classes
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
