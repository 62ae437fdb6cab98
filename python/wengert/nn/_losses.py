"""Losses of several labels, and of distances that users define: compositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; use 'none', 'mean' or 'sum'")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _check_classes(input: Tensor, name: str) -> None:
    if input.ndim > 2 or (input.ndim > 0 and input.shape[-1] == 0):
        raise RuntimeError(
            f"[{name}] Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinge loss of classes: by how much scores come within `margin` of the target's.

    Parameters
    ----------
    input : Tensor
        [batch, classes] or [classes]
    target : Tensor
        [batch] or a single class.
    p : {1, 2}
        The power of the violations.
    margin : float, default 1
    weight : Tensor, optional
        [classes]
    size_average, reduce : None
        What PyTorch had before `reduction`.
    reduction : {'mean', 'sum', 'none'}

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If `p` is neither 1 nor 2, or there are no classes.
    """
    if p not in (1, 2):
        raise RuntimeError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    _check_classes(input, "multi_margin_loss")
    scores: Any = input if input.ndim == 2 else input.reshape(1, -1)
    labels = target.reshape(-1, 1)
    violation = (margin - scores.gather(1, labels) + scores).clamp(min=0)
    violation = violation if p == 1 else violation.square()
    if weight is not None:
        violation = violation * weight[labels]
    classes = wengert.arange(scores.shape[1])
    loss = wengert.where(classes == labels, 0, violation).sum(1) / scores.shape[1]
    result: Tensor = _reduced(loss if input.ndim == 2 else loss.squeeze(0), reduction)
    return result


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: None = None, reduce: None = None, reduction: str = "mean"
) -> Tensor:
    """Hinge loss of several labels: scores of other classes within 1 of those of the labels.

    Parameters
    ----------
    input : Tensor
        [batch, classes] or [classes]
    target : Tensor
        Labels in the same shape; those before the first -1 count.
    size_average, reduce : None
        What PyTorch had before `reduction`.
    reduction : {'mean', 'sum', 'none'}

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If there are no classes.
    """
    _check_classes(input, "multilabel_margin_loss")
    scores: Any = input if input.ndim == 2 else input.reshape(1, -1)
    labels = target if target.ndim == 2 else target.reshape(1, -1)
    named = (labels < 0).cumsum(1) == 0
    places = labels.clamp(min=0)
    is_label = wengert.zeros_like(labels).scatter_add(1, places, named.to(labels.dtype)) > 0
    violation = (1 - scores.gather(1, places).unsqueeze(2) + scores.unsqueeze(1)).clamp(min=0)  # [batch, label, class]
    counts = named.unsqueeze(2) & ~is_label.unsqueeze(1)
    loss = wengert.where(counts, violation, 0).sum((1, 2)) / scores.shape[1]
    result: Tensor = _reduced(loss if input.ndim == 2 else loss.squeeze(0), reduction)
    return result


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of the logistic loss of each.

    Parameters
    ----------
    input : Tensor
        [..., classes]
    target : Tensor
        0 or 1 for each.
    weight : Tensor, optional
        [classes]
    size_average, reduce : None
        What PyTorch had before `reduction`.
    reduction : {'mean', 'sum', 'none'}

    Returns
    -------
    Tensor
    """
    log_sigmoid: Any = wengert.nn.functional.logsigmoid
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    result: Tensor = _reduced(loss.mean(-1), reduction)
    return result


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
