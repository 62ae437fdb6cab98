"""Softmax over many classes, with rare ones in clusters (Grave et al., 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .._module import Module
from .container import ModuleList, Sequential
from .linear import Linear

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _Result(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes that are sorted by frequency: the rare ones are in clusters with smaller maps.

    Parameters
    ----------
    in_features, n_classes : int
    cutoffs : sequence of int
        Where each cluster begins, in increasing order.
    div_value : float, default 4
        By how much the features of each cluster are fewer than those of the one before.
    head_bias : bool, default False
    device : device, optional
    dtype : dtype, optional

    Raises
    ------
    ValueError
        If `cutoffs` are not increasing positive integers below `n_classes`, or leave a cluster without features.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for cluster in range(self.n_clusters):
            features = int(in_features // div_value ** (cluster + 1))
            if features <= 0:
                raise ValueError(
                    f"elements in cutoffs and div_value should satisfy in_features // div_value ** {cluster + 1} >= 1"
                )
            size = self.cutoffs[cluster + 1] - self.cutoffs[cluster]
            self.tail.append(
                Sequential(
                    Linear(in_features, features, bias=False, **made), Linear(features, size, bias=False, **made)
                )
            )

    def reset_parameters(self) -> None:
        """Draw all maps again."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log-probabilities of all classes, [N, n_classes]."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for cluster, tail in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + cluster].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + of_cluster)
        return wengert.cat(parts, dim=1)

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """Return the log-probabilities of the targets, ``output``, and their negative mean, ``loss``."""
        batched = target_.ndim > 0
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        if batched and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if bool((target < 0).any()) or bool((target >= self.n_classes).any()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        index = target
        output = input.new_zeros(target.shape[0])
        for cluster, tail in enumerate(self.tail):
            low, high = self.cutoffs[cluster], self.cutoffs[cluster + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            of_cluster = F.log_softmax(tail(input[rows]), dim=1)
            output = output.index_add(0, rows, of_cluster.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1))
            index = index.index_fill(0, rows, self.shortlist_size + cluster)
        output = output + head.gather(1, index.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _Result(output if batched else output.squeeze(0), loss)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable classes, [N]."""
        return self.log_prob(input).argmax(dim=1)
