"""Layers of networks."""

from __future__ import annotations

import math
from typing import Any

import wengert

from .._batch import NoRuleError
from .._operations import operations
from .products import along_dimension


def prelu_by_channel(x: Any, weight: Any) -> Any:
    """A slope for each channel, or one for all."""
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.numel() == 1:
        weight = weight.reshape(())
    elif weight.ndim != 1 or weight.numel() != channels:
        raise RuntimeError(
            "[prelu] Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.numel()} and channel size = {channels}"
        )
    else:
        weight = along_dimension(weight, 1, x.ndim)
    return operations()["prelu_elementwise"](x, weight)


def attention(
    query: Any, key: Any, value: Any, mask: Any, dropout_p: float, causal: bool, scale: float | None, grouped: bool
) -> Any:
    """``softmax(query @ key.T * scale) @ value``, of the keys that a query sees."""
    if min(query.ndim, key.ndim, value.ndim) < 2 or (causal and mask is not None):
        raise NoRuleError
    if grouped and query.ndim > 2 and key.ndim > 2:
        key, value = (_repeated_heads(t, query.shape[-3]) for t in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * scale).matmul(key.transpose(-2, -1))
    if causal:
        mask = wengert.ones(*scores.shape[-2:], dtype=wengert.bool).tril()
    elif mask is not None and mask.dtype != wengert.bool:
        scores = scores + mask
        mask = scores != -math.inf
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = wengert.where(mask, wengert.where(mask, scores, -math.inf).softmax(-1), 0)
    if dropout_p > 0:
        weights = wengert.nn.functional.dropout(weights, dropout_p)
    return weights.matmul(value)


def _repeated_heads(tensor: Any, heads: int) -> Any:
    own = tensor.shape[-3]
    if own == heads:
        return tensor
    if not own or heads % own:
        raise NoRuleError
    return tensor.repeat_interleave(heads // own, -3)


def instance_norm_composed(
    x: Any, mean: Any, var: Any, weight: Any, bias: Any, use_input_stats: bool, momentum: float, eps: float
) -> Any:
    """Each channel of each image by itself."""
    if x.ndim < 2:
        raise NoRuleError
    if not use_input_stats:
        return wengert.nn.functional.batch_norm(x, mean, var, weight, bias, False, momentum, eps)
    if mean is not None or var is not None:
        raise NoRuleError  # they would be updated
    return wengert.nn.functional.group_norm(x, x.shape[1], weight, bias, eps)


def divided_by_neighbours(x: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    """Local response normalisation."""
    if x.ndim < 3:
        raise NoRuleError
    pad = [0, 0] * (x.ndim - 2) + [size // 2, (size - 1) // 2]
    squares = wengert.nn.functional.pad(x.square(), pad)
    return x / (squares.unfold(1, size, 1).mean(-1) * alpha + k) ** beta


def grid_of_affine_map(theta: Any, size: Any, align_corners: bool) -> Any:
    """Return where an affine map takes the pixels of an image."""
    rank = len(size) - 2
    if theta.ndim != 3 or tuple(theta.shape) != (size[0], rank, rank + 1):
        raise NoRuleError
    identity = wengert.eye(rank, rank + 1, dtype=theta.dtype).unsqueeze(0)
    points = wengert.nn.functional.affine_grid(identity, [1, *size[1:]], align_corners)
    points = wengert.cat([points, wengert.ones(*points.shape[:-1], 1, dtype=theta.dtype)], -1)
    return points.reshape(1, -1, rank + 1).matmul(theta.transpose(1, 2)).reshape(size[0], *size[2:], rank)
