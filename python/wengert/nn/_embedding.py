"""Rows of a table, with a gradient that is dense or, on request, sparse.

The operations of the table have the dense one. With ``sparse=True`` the rows that indices name are an operation of
their own, whose gradient is a sparse tensor of the rows of the incoming one; bags are made of these rows.
"""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._overrides import overridden
from wengert.autograd._custom_function.function import Function

__all__ = ["embedding", "embedding_bag"]
_rows = _C._nn_functional


class Embedding(Function):
    """The rows of `weight`, with a sparse gradient."""

    @staticmethod
    def forward(weight: Any, input: Any, padding_idx: int | None) -> Any:
        return _rows.embedding(input, weight)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        weight, ctx.indices, ctx.padding_idx = inputs
        ctx.shape = tuple(weight.shape)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        from wengert.sparse._make import sparse_coo_tensor

        indices, values = ctx.indices.reshape(-1), grad.reshape(-1, ctx.shape[1])
        if ctx.padding_idx is not None:
            kept = (indices != ctx.padding_idx % ctx.shape[0]).nonzero().squeeze(1)
            indices, values = indices.index_select(0, kept), values.index_select(0, kept)
        return sparse_coo_tensor(indices.unsqueeze(0).to(_C.int64), values, ctx.shape), None, None

    @staticmethod
    def jvp(ctx: Any, weight_t: Any, *_: Any) -> Any:
        return _rows.embedding(ctx.indices, weight_t.to_dense())

    @staticmethod
    def vmap(info: Any, in_dims: Any, weight: Any, input: Any, padding_idx: int | None) -> Any:
        if in_dims[0] is not None:
            raise RuntimeError("[embedding] a batch of tables has no sparse gradient; use sparse=False inside of vmap")
        return Embedding.apply(weight, input.movedim(in_dims[1], 0), padding_idx), 0


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    if not sparse or overridden(input, weight):
        return _rows.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    _require_plain(scale_grad_by_freq)
    # All arguments are checked, and rows are limited in place, where nothing is recorded.
    _rows.embedding(input, weight.detach(), padding_idx, max_norm, norm_type)
    return Embedding.apply(weight, input, padding_idx)


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    further = (per_sample_weights, include_last_offset)
    if not sparse or overridden(input, weight, offsets, per_sample_weights):
        return _rows.embedding_bag(
            input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, *further, padding_idx
        )
    if mode == "max":
        raise ValueError("max mode does not support sparse weights")
    _require_plain(scale_grad_by_freq)
    rows = embedding(input.reshape(-1), weight, padding_idx, max_norm, norm_type, sparse=True)
    places = _C.arange(input.numel(), device=input.device)
    last = None
    if padding_idx is not None:  # one more row, which bags leave out
        last = input.numel()
        places = _C.where(input.reshape(-1) == padding_idx % weight.shape[0], last, places)
        rows = _C.cat([rows, _C.zeros_like(weight[:1].detach())])
    places = places.reshape(input.shape)
    return _rows.embedding_bag(places, rows, offsets, None, 2.0, False, mode, False, *further, last)


def _require_plain(scale_grad_by_freq: bool) -> None:
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")


for _function in (embedding, embedding_bag):
    _function.__doc__ = getattr(_rows, _function.__name__).__doc__
