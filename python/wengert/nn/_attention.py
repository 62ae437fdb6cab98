"""Attention of several heads between linear maps: a composition with more arguments than a row of the table takes."""

from __future__ import annotations

import math
from typing import Any

import wengert
from wengert._C import Tensor


def _additive(mask: Any, dtype: Any) -> Any:
    """Return what is added to scores: -inf where a boolean mask is True."""
    if mask is None or mask.dtype != wengert.bool:
        return mask
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf)


def _projected(inputs: Any, weights: Any, bias: Any) -> Any:
    """Return query, key and value after their maps; `weights` is one matrix for all or one for each."""
    if isinstance(weights, Tensor):
        weights = weights.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return [wengert.nn.functional.linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads: linear maps, `scaled_dot_product_attention` of each head, a linear map of all.

    Parameters
    ----------
    query : Tensor
        [L, N, E], or [L, E] without a batch.
    key, value : Tensor
        [S, N, E] or [S, E]
    embed_dim_to_check, num_heads : int
        E, and how many heads share it.
    in_proj_weight, in_proj_bias : Tensor or None
        [3 E, E] and [3 E]: the maps of query, key and value, one below the other.
    bias_k, bias_v : Tensor or None
        [1, 1, E]: one more key and its value.
    add_zero_attn : bool
        Whether to add a key and a value of zeros.
    dropout_p : float
        Probability of dropping a weight in training.
    out_proj_weight, out_proj_bias : Tensor
        [E, E] and [E]: the last map.
    training : bool, default True
    key_padding_mask : Tensor, optional
        [N, S] or [S]: True where a key is hidden, or what is added to its scores.
    need_weights : bool, default True
        Whether to return the weights too.
    attn_mask : Tensor, optional
        [L, S] or [N * num_heads, L, S]: True where a query does not see a key, or what is added to their scores.
    use_separate_proj_weight : bool, default False
        Whether the maps of query, key and value are those of the next three arguments.
    q_proj_weight, k_proj_weight, v_proj_weight : Tensor, optional
        [E, features] each.
    static_k, static_v : Tensor, optional
        [N * num_heads, S, E / num_heads]: keys and values after their maps.
    average_attn_weights : bool, default True
        Whether the weights that are returned are the mean over heads.
    is_causal : bool, default False
        A hint that `attn_mask` hides what follows each query; the mask is given all the same.

    Returns
    -------
    output : Tensor
        In the shape of `query`.
    weights : Tensor or None
        [N, L, S], or [N, num_heads, L, S] if they are not averaged.

    Raises
    ------
    RuntimeError
        If shapes do not fit, or `is_causal` comes without a mask.

    Examples
    --------
    >>> import wengert as wg
    >>> x, eye = wg.ones(2, 1, 2), wg.eye(2)
    >>> attend = wg.nn.functional.multi_head_attention_forward
    >>> out, weights = attend(x, x, x, 2, 1, wg.cat([eye, eye, eye]), None, None, None, False, 0.0, eye, None)
    >>> weights
    tensor([[[0.5000, 0.5000],
             [0.5000, 0.5000]]])
    """
    functional: Any = wengert.nn.functional
    batched = query.ndim == 3
    inputs: Any = (query, key, value)
    if not batched:
        inputs = [t.unsqueeze(1) for t in inputs]
    length, batch, width = inputs[0].shape
    if width != embed_dim_to_check or width % num_heads:
        raise RuntimeError(
            f"[multi_head_attention_forward] query has {width} features, which must be {embed_dim_to_check} and a "
            f"multiple of num_heads={num_heads}"
        )
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    q, k, v = _projected(inputs, separate if use_separate_proj_weight else in_proj_weight, in_proj_bias)

    masks: list[Any] = []  # [N or 1, heads or 1, L or 1, S]
    if attn_mask is not None:
        mask = _additive(attn_mask, q.dtype)
        shape = (1, 1, length, -1) if mask.ndim == 2 else (batch, num_heads, length, -1)
        masks.append(mask.reshape(shape))
    if key_padding_mask is not None:
        masks.append(_additive(key_padding_mask, q.dtype).reshape(batch, 1, 1, -1))

    def heads(t: Any) -> Any:  # [S, N, E] -> [N, heads, S, E / heads]
        return t.reshape(t.shape[0], batch, num_heads, width // num_heads).permute(1, 2, 0, 3)

    more = 0
    if bias_k is not None and bias_v is not None:
        k, v = (wengert.cat([t, b.expand(1, batch, width)]) for t, b in ((k, bias_k), (v, bias_v)))
        more += 1
    shape = (batch, num_heads, -1, width // num_heads)
    q = heads(q)
    k = heads(k) if static_k is None else static_k.reshape(shape)
    v = heads(v) if static_v is None else static_v.reshape(shape)
    if add_zero_attn:
        nothing = q.new_zeros(batch, num_heads, 1, width // num_heads)
        k, v = wengert.cat([k, nothing], 2), wengert.cat([v, nothing], 2)
        more += 1
    mask = None
    if masks:
        total = masks[0] if len(masks) == 1 else masks[0] + masks[1]
        mask = functional.pad(total, (0, more)) if more else total

    weights = None
    dropped = dropout_p if training else 0.0
    if need_weights:
        scores = (q / math.sqrt(q.shape[-1])) @ k.mT  # [N, heads, L, S]
        weights = (scores if mask is None else scores + mask).softmax(-1)
        if dropped:
            weights = functional.dropout(weights, dropped)
        out = weights @ v
    else:
        out = functional.scaled_dot_product_attention(q, k, v, mask, dropped)
    out = functional.linear(out.permute(2, 0, 1, 3).reshape(length, batch, width), out_proj_weight, out_proj_bias)
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if batched:
        return out, weights
    return out.squeeze(1), None if weights is None else weights.squeeze(0)
