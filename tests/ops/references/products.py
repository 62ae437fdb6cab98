"""Products of matrices and vectors, distances."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import scipy.spatial.distance

from . import reference

reference("mm", "bmm")(lambda self, mat2: self @ mat2)
reference("mv")(lambda self, vec: self @ vec)
reference("matmul_batched", "matmul_chain")(lambda self, other: self @ other)
reference("dot")(lambda self, tensor: np.dot(self, tensor))
reference("vdot")(lambda self, other: np.vdot(self, other))
reference("inner")(lambda self, other: np.inner(self, other))
reference("outer")(lambda self, vec2: np.outer(self, vec2))
reference("kron")(lambda self, other: np.kron(self, other))
reference("cross", "linalg_cross")(lambda self, other, dim=-1: np.cross(self, other, axis=dim))
reference("linalg_vecdot")(lambda x, y, dim=-1: np.sum(np.conj(x) * y, dim))
reference("linear")(lambda input, weight, bias=0: input @ weight.T + bias)
reference("bilinear")(
    lambda input1, input2, weight, bias=0: np.einsum("...i,oij,...j->...o", input1, weight, input2) + bias
)
reference("einsum")(lambda equation, operands: np.einsum(equation, *operands))
reference("tensordot")(lambda a, b, dims=2: np.tensordot(a, b, dims))
reference("tensordot_along")(lambda a, b, dims_a, dims_b: np.tensordot(a, b, (dims_a, dims_b)))
reference("chain_matmul")(lambda matrices: reduce(np.matmul, matrices))
reference("linalg_multi_dot")(lambda tensors: reduce(np.matmul, tensors))
reference("matrix_power")(lambda self, n: np.linalg.matrix_power(self, n))
reference("trace")(lambda self: np.trace(self))


def added(product: Any) -> Any:
    """`beta * self + alpha * product` of the other two arguments."""
    return lambda self, beta=1, alpha=1, **factors: beta * self + alpha * product(*factors.values())


reference("addmm", "addmv", "baddbmm")(added(np.matmul))
reference("addr", "addr_of")(added(np.outer))
reference("addbmm")(added(lambda a, b: (a @ b).sum(0)))


# --- Distances
def distances(x1: np.ndarray, x2: np.ndarray, p: float = 2.0) -> np.ndarray:
    return np.linalg.vector_norm(x1[..., :, None, :] - x2[..., None, :, :], ord=p, axis=-1)


reference("cdist", "cdist_of")(distances)
reference("pdist", "pdist_of")(lambda p=2.0, **x: scipy.spatial.distance.pdist(*x.values(), metric="minkowski", p=p))


@reference("pairwise_distance")
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6) -> np.ndarray:
    return np.linalg.vector_norm(x1 - x2 + eps, ord=p, axis=-1)


@reference("cosine_similarity")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1) -> np.ndarray:
    lengths = np.linalg.vector_norm(x1, axis=dim) * np.linalg.vector_norm(x2, axis=dim)
    return np.sum(x1 * np.conj(x2), dim) / lengths


# --- Attention
@reference("scaled_dot_product_attention")
def attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    dropout_p: float = 0.0,
) -> np.ndarray:
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    scores = query @ np.swapaxes(key, -2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value
