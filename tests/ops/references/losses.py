"""Losses."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, xlogy

from . import reference
from .products import cosine_similarity, pairwise_distance

REDUCE = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def loss(*names: str) -> Any:
    """Registers what is computed of each element, or sample; `reduction` says what becomes of them."""

    def register(function: Any) -> Any:
        reference(*names)(lambda reduction="mean", **arguments: REDUCE[reduction](function(**arguments)))
        return function

    return register


loss("mse_loss")(lambda input, target: (input - target) * (input - target))
loss("l1_loss")(lambda input, target: np.abs(input - target))
loss("hinge_embedding_loss")(
    lambda input, target, margin=1.0: np.where(target == 1, input, np.maximum(0, margin - input))
)
loss("soft_margin_loss")(lambda input, target: np.log1p(np.exp(-target * input)))
loss("margin_ranking_loss")(
    lambda input1, input2, target, margin=0.0: np.maximum(0, -target * (input1 - input2) + margin)
)


@loss("smooth_l1_loss")
def smooth_l1(input: Any, target: Any, beta: float = 1.0) -> np.ndarray:
    x = np.abs(input - target)
    return np.where(x < beta, 0.5 * x**2 / beta, x - 0.5 * beta)


@loss("huber_loss")
def huber(input: Any, target: Any, delta: float = 1.0) -> np.ndarray:
    x = np.abs(input - target)
    return np.where(x <= delta, 0.5 * x**2, delta * (x - 0.5 * delta))


@loss("binary_cross_entropy", "weighted_binary_cross_entropy")
def binary_cross_entropy(input: Any, target: Any, weight: Any = 1) -> np.ndarray:
    return -weight * (target * np.log(input) + (1 - target) * np.log1p(-input))


@loss("binary_cross_entropy_with_logits", "bce_with_logits", "weighted_bce_with_logits")
def with_logits(input: Any, target: Any, weight: Any = 1, pos_weight: Any = 1) -> np.ndarray:
    p = expit(input)
    return -weight * (pos_weight * target * np.log(p) + (1 - target) * np.log(1 - p))


@reference("kl_div")
def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    each = np.exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    return each.sum() / len(input) if reduction == "batchmean" else REDUCE[reduction](each)


@loss("gaussian_nll_loss")
def gaussian_nll(input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6) -> np.ndarray:
    var = np.asarray(var)
    var = np.maximum(var[..., None] if 0 < var.ndim < input.ndim else var, eps)
    return 0.5 * (np.log(var) + (input - target) ** 2 / var + (np.log(2 * np.pi) if full else 0))


@loss("poisson_nll_loss")
def poisson_nll(input: Any, target: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8) -> np.ndarray:
    out = np.exp(input) - target * input if log_input else input - target * np.log(input + eps)
    stirling = target * np.log(target) - target + 0.5 * np.log(2 * np.pi * target)
    return out + np.where(target > 1, stirling, 0) if full else out


@loss("cosine_embedding_loss")
def cosine_embedding(input1: Any, input2: Any, target: Any, margin: float = 0.0) -> np.ndarray:
    cosine = cosine_similarity(input1, input2)
    return np.where(target == 1, 1 - cosine, np.maximum(0, cosine - margin))


@loss("triplet_margin_loss")
def triplet_margin(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2.0, swap: bool = False
) -> np.ndarray:
    away = pairwise_distance(anchor, negative, p)
    if swap:
        away = np.minimum(away, pairwise_distance(positive, negative, p))
    return np.maximum(0, pairwise_distance(anchor, positive, p) - away + margin)


# --- Losses of classes
def picked(x: np.ndarray, target: np.ndarray, weight: Any, ignore_index: int) -> tuple[np.ndarray, np.ndarray]:
    """The negative element of each row that its class names, and the weight of that class."""
    weights = np.where(target == ignore_index, 0, 1.0 if weight is None else weight[target])
    return -weights * x[np.arange(len(target)), target], weights


@reference("nll_loss")
def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    each, weights = picked(input, target, weight, ignore_index)
    return each.sum() / weights.sum() if reduction == "mean" else REDUCE[reduction](each)


@reference("nll_loss_forward")
def nll_loss_forward(self: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    weights = picked(self, target, weight, ignore_index)[1]
    return nll_loss(self, target, weight, ignore_index, reduction), weights.sum() if reduction == "mean" else None


@reference("nll_loss_backward")
def nll_loss_backward(
    grad_output: Any, target: Any, weight: Any, reduction: str, ignore_index: int, total_weight: Any, sizes: Any
) -> np.ndarray:
    out = np.zeros(sizes)
    out[np.arange(len(target)), target] = -grad_output / total_weight
    return out


@reference("cross_entropy")
def cross_entropy(input: Any, target: Any, **how: Any) -> Any:
    return nll_loss(log_softmax(input, axis=1), target, **how)


@reference("linear_nll")
def linear_nll(input: Any, linear_weight: Any, linear_bias: Any, target: Any, ignore_index: int) -> np.ndarray:
    scores = input @ linear_weight.T + (0 if linear_bias is None else linear_bias)
    return nll_loss(log_softmax(scores, axis=1), target, ignore_index=ignore_index, reduction="none")


@reference("linear_cross_entropy")
def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    """Scores [N, C, ...], and for each position the mean over classes of smoothed labels."""
    rows = np.atleast_2d(input)
    scores = np.moveaxis(np.tensordot(linear_weight, rows, (-1, -1)), -1, 0)
    classes, places = scores.shape[1], scores.shape[2:]
    beside = (1, classes, *[1] * len(places))
    if linear_bias is not None:
        scores = scores + linear_bias[None]
    logs = log_softmax(scores, axis=1)
    weights = np.ones(classes) if weight is None else weight
    if target.dtype.kind == "f":
        labels, counted = target, None
    else:
        named = np.asarray(target).reshape(len(rows), *places)
        counted = named != ignore_index
        labels = np.moveaxis(np.eye(classes)[np.where(counted, named, 0)], -1, 1) * counted[:, None]
    even = np.ones_like(logs) / classes * (1 if counted is None else counted[:, None])
    mixed = (1 - label_smoothing) * labels + label_smoothing * even
    each = -np.sum(mixed * logs * weights.reshape(beside), axis=1)
    if reduction == "none":
        return each.reshape(np.shape(target)) if counted is not None else each
    total = each.sum()
    if reduction == "sum":
        return total
    return total / (each.size if counted is None else np.sum(labels * weights.reshape(beside)))


# --- Sequences of labels
def paths_of(labels: list[int], blank: int, length: int, classes: int) -> list[list[int]]:
    """All sequences of that length that become `labels` when repetitions, then blanks are taken out."""
    found = []
    for path in np.ndindex(*[classes] * length):
        kept = [path[0]] + [b for a, b in pairwise(path) if a != b]
        if [c for c in kept if c != blank] == labels:
            found.append(list(path))
    return found


@reference("ctc_likelihood")
def ctc_likelihood(log_probs: np.ndarray, labels: Any, skips: Any, ends: Any, input_lengths: Any) -> Any:
    """By adding up all paths through the states."""

    def after(t: int, n: int, state: int) -> float:
        if t == input_lengths[n]:
            return float(ends[n, state])
        steps = [state, state + 1] + [state + 2] * (state + 2 < len(labels[n]) and bool(skips[n, state + 2]))
        return sum(
            float(np.exp(log_probs[t, n, labels[n, s]])) * after(t + 1, n, s) for s in steps if s < len(labels[n])
        )

    with np.errstate(divide="ignore"):
        return np.log([sum(np.exp(log_probs[0, n, labels[n, s]]) * after(1, n, s) for s in (0, 1))
                       for n in range(len(labels))]), None  # fmt: skip


@reference("ctc_loss", "ctc_loss_tensors")
def ctc_loss(
    log_probs: np.ndarray,
    targets: np.ndarray,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """By adding up all paths."""
    batched = log_probs.ndim == 3
    x = log_probs if batched else log_probs[:, None]
    losses, done = [], 0
    for n, (length, count) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        row = targets[n] if batched and targets.ndim == 2 else targets[done : done + count]
        done += count
        paths = paths_of([int(c) for c in row[:count]], blank, int(length), x.shape[-1])
        total = sum(np.exp(sum(x[t, n, c] for t, c in enumerate(path))) for path in paths)
        losses.append(-np.log(total) if total else (0.0 if zero_infinity else np.inf))
    each = np.array(losses)
    if reduction == "mean":
        return np.mean(each / np.maximum(np.asarray(target_lengths), 1))
    return REDUCE[reduction](each if batched else each[0])
