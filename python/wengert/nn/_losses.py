"""A loss of distances that users define."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; use 'none', 'mean' or 'sum'")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """By how much `positive` is not nearer to `anchor` than `negative` is, by `margin`.

    Parameters
    ----------
    anchor, positive, negative : Tensor
    distance_function : callable, optional
        Of two tensors; `pairwise_distance` by default.
    margin : float, default 1
    swap : bool, default False
        Whether the distance of `positive` and `negative` counts where it is the smaller one.
    reduction : {'mean', 'sum', 'none'}

    Returns
    -------
    Tensor
    """
    distance: Any = distance_function or wengert.nn.functional.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = wengert.minimum(far, distance(positive, negative))
    result: Tensor = _reduced((near - far + margin).clamp(min=0), reduction)
    return result
