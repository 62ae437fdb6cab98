"""Attention of several heads, as a layer."""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from .. import functional as F  # noqa: N812
from .. import init
from .._module import Module
from .._parameter import Parameter
from ..modules.linear import NonDynamicallyQuantizableLinear


class MultiheadAttention(Module):
    """Attention of several heads (Vaswani et al., 2017): each query gets a mean of values, weighted by its keys.

    Parameters
    ----------
    embed_dim, num_heads : int
        The features of queries, and how many heads share them.
    dropout : float, default 0
        Probability of dropping a weight in training.
    bias : bool, default True
        Whether the linear maps have biases.
    add_bias_kv : bool, default False
        Whether there is one more key and value, which are learned.
    add_zero_attn : bool, default False
        Whether there is one more key and value of zeros.
    kdim, vdim : int, optional
        The features of keys and values; `embed_dim` by default.
    batch_first : bool, default False
        Whether inputs are [N, L, E] rather than [L, N, E].
    device : device, optional
    dtype : dtype, optional

    Raises
    ------
    ValueError
        If a number is not positive.
    AssertionError
        If `embed_dim` is not divisible by `num_heads`.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.randn(5, 2, 8)
    >>> output, weights = wg.nn.MultiheadAttention(8, 2)(x, x, x)
    >>> output.shape, weights.shape
    (wengert.Size([5, 2, 8]), wengert.Size([2, 5, 5]))
    """

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(there: bool, *shape: int) -> Parameter | None:
            return Parameter(wengert.empty(shape, device=device, dtype=dtype)) if there else None

        together = self._qkv_same_embed_dim
        for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            self.register_parameter(f"{name}_proj_weight", parameter(not together, embed_dim, width))
        self.register_parameter("in_proj_weight", parameter(together, 3 * embed_dim, embed_dim))
        self.register_parameter("in_proj_bias", parameter(bias, 3 * embed_dim))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k, self.bias_v = parameter(add_bias_kv, 1, 1, embed_dim), parameter(add_bias_kv, 1, 1, embed_dim)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the maps again."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend; see `wengert.nn.functional.multi_head_attention_forward` for the arguments.

        Returns
        -------
        output : Tensor
            In the shape of `query`.
        weights : Tensor or None
            [N, L, S], or [N, num_heads, L, S] if they are not averaged.
        """
        swapped = self.batch_first and query.ndim == 3
        if swapped:  # the same objects stay the same
            made = {id(t): t.transpose(0, 1) for t in (query, key, value)}
            query, key, value = (made[id(t)] for t in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (output.transpose(0, 1) if swapped else output), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Return one mask for both, and its kind: 0 for attention, 1 for padding, 2 for both.

        Parameters
        ----------
        attn_mask : Tensor, optional
            [L, L] or [N, num_heads, L, L]
        key_padding_mask : Tensor, optional
            [N, L]
        query : Tensor
            [N, L, E]
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[:2]
        merged = attn_mask.expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is None:
            return merged, 2
        return merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1), 2
