"""Loss functions and their pieces."""

from __future__ import annotations

import math
from typing import Any

import wengert

from .._batch import NoRuleError
from .products import along_dimension


def reduce_loss(loss: Any, reduction: str) -> Any:
    """Return the mean or the sum of a loss, or the loss itself."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction; use 'none', 'mean' or 'sum'")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def reduce_batch_loss(loss: Any, like: Any, reduction: str) -> Any:
    """Return the same, with ``batchmean`` for the sum divided by the first size."""
    if reduction == "batchmean":
        return loss.sum() / (like.shape[0] if like.ndim else 1)
    return reduce_loss(loss, reduction)


def gaussian_nll(mean: Any, target: Any, var: Any, full: bool, eps: float) -> Any:
    """Minus the logarithm of a normal density."""
    if not isinstance(var, wengert.Tensor):
        var = wengert.full((), var, dtype=mean.dtype)
    elif var.ndim and var.ndim + 1 == mean.ndim:
        var = var.unsqueeze(-1)
    var = var.clamp_min(eps)
    loss = 0.5 * (var.log() + (mean - target).square() / var)
    return loss + 0.5 * math.log(2 * math.pi) if full else loss


def cosine(x1: Any, x2: Any, dim: int, eps: float) -> Any:
    """Return the cosine of angles."""
    return wengert.cosine_similarity(x1, x2, dim, eps)


def triplet_margin(anchor: Any, positive: Any, negative: Any, margin: float, p: float, eps: float, swap: bool) -> Any:
    """By how much the positive is not nearer than the negative."""
    distance = wengert.nn.functional.pairwise_distance
    near, far = distance(anchor, positive, p, eps), distance(anchor, negative, p, eps)
    if swap:
        far = wengert.minimum(far, distance(positive, negative, p, eps))
    return wengert.relu(near - far + margin)


def nll_loss_of(scores: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> tuple[Any, Any]:
    """Return the loss of classes, and the sum of their weights."""
    if not scores.ndim >= 1 or target.ndim != max(scores.ndim - 1, 0):
        raise NoRuleError
    dim = min(scores.ndim - 1, 1)
    counts = target != ignore_index
    chosen = wengert.where(counts, target, 0).to(wengert.int64)
    picked = -scores.gather(dim, chosen.unsqueeze(dim)).squeeze(dim)
    factor = wengert.ones(target.shape, dtype=scores.dtype) if weight is None else weight[chosen]
    factor = wengert.where(counts, factor, 0)
    loss = wengert.where(counts, picked * factor, 0)
    if reduction == "none":
        return loss, factor.sum()
    total = factor.sum()
    return (loss.sum() / total if reduction == "mean" else reduce_loss(loss, reduction)), total


def cross_entropy_of(scores: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float) -> Any:
    """Cross entropy of scores and classes, or probabilities of classes."""
    if not scores.ndim or not 0 <= smoothing <= 1:
        raise NoRuleError
    dim = min(scores.ndim - 1, 1)
    logs, classes = scores.log_softmax(dim), scores.shape[dim]
    weights = None if weight is None else along_dimension(weight, dim, scores.ndim)
    if target.dtype.is_floating_point and target.ndim == scores.ndim:
        if scores.shape != target.shape or ignore_index >= 0:
            raise NoRuleError
        probabilities = target * (1 - smoothing) + smoothing / classes if smoothing else target
        terms = wengert._C._private.chain(probabilities, logs)
        loss = -(terms if weights is None else terms * weights).sum(dim)
        return reduce_loss(loss, reduction)
    loss, total = nll_loss_of(logs, target, weight, reduction, ignore_index)
    if not smoothing:
        return loss
    even = (logs if weights is None else logs * weights).sum(dim) * (-1 / classes)
    even = wengert.where(target == ignore_index, 0, even)
    if reduction != "none":
        even = even.sum() / total if reduction == "mean" else even.sum()
    return loss * (1 - smoothing) + even * smoothing
