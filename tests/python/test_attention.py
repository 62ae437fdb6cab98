"""multi_head_attention_forward: against its definition, written with einsum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import wengert as wg

F = wg.nn.functional
L, S, N, E, H = 3, 4, 2, 6, 2


def made(*shape: int) -> Any:
    return wg.tensor(np.random.default_rng(math.prod(shape)).normal(size=shape), requires_grad=True)


def reference(q: Any, k: Any, v: Any, w: Any, b: Any, out_w: Any, out_b: Any, mask: Any) -> tuple[Any, Any]:
    parts = [x @ m.T + c for x, m, c in zip((q, k, v), w.chunk(3), b.chunk(3), strict=True)]
    q, k, v = (p.reshape(p.shape[0], N, H, E // H) for p in parts)
    scores = wg.einsum("lnhe,snhe->nhls", q, k) / math.sqrt(E // H)
    weights = (scores + mask).softmax(-1)
    out = wg.einsum("nhls,snhe->lnhe", weights, v).reshape(-1, N, E)
    return out @ out_w.T + out_b, weights


@pytest.mark.parametrize("need_weights", [True, False])
def test_definition(need_weights: bool) -> None:
    q, k, v = made(L, N, E), made(S, N, E), made(S, N, E).detach().flip(0)
    w, b, out_w, out_b = made(3 * E, E), made(3 * E), made(E, E), made(E)
    hidden = wg.tensor([[False, False, False, True], [False, False, False, False]])
    causal = wg.ones(L, S).triu(2).bool()
    mask = wg.zeros(N, 1, L, S, dtype=wg.float64).masked_fill(hidden[:, None, None] | causal, -math.inf)
    out, weights = F.multi_head_attention_forward(
        q, k, v, E, H, w, b, None, None, False, 0.0, out_w, out_b, key_padding_mask=hidden, attn_mask=causal,
        need_weights=need_weights,
    )  # fmt: skip
    want, each = reference(q, k, v, w, b, out_w, out_b, mask)
    np.testing.assert_allclose(out.detach().numpy(), want.detach().numpy(), rtol=1e-12, atol=1e-14)
    if need_weights:
        np.testing.assert_allclose(weights.detach().numpy(), each.mean(1).detach().numpy(), rtol=1e-12)
    else:
        assert weights is None
    for a, b_ in zip(wg.autograd.grad(out.sum(), (q, w)), wg.autograd.grad(want.sum(), (q, w)), strict=True):
        np.testing.assert_allclose(a.numpy(), b_.numpy(), rtol=1e-9, atol=1e-12)


def test_without_a_batch_and_with_more_keys() -> None:
    q, w, b, out_w = made(L, E), made(3 * E, E), made(3 * E), made(E, E)
    extra = made(1, 1, E)
    out, weights = F.multi_head_attention_forward(
        q, q, q, E, H, w, b, extra, extra, True, 0.0, out_w, None, average_attn_weights=False
    )
    assert out.shape == (L, E)
    assert weights.shape == (H, L, L + 2)
    np.testing.assert_allclose(weights.sum(-1).detach().numpy(), 1)


def test_what_does_not_fit() -> None:
    q = made(L, N, E)
    with pytest.raises(RuntimeError, match="multiple of num_heads=4"):
        F.multi_head_attention_forward(q, q, q, E, 4, made(3 * E, E), None, None, None, False, 0.0, made(E, E), None)
