"""Programs of transforms, in wengert and in torch.func."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.utils._pytree import tree_leaves

torch = pytest.importorskip("torch")
# torch.func imports torch.jit, and its linearize warns of itself.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

RNG = np.random.default_rng(0)
M, N = RNG.standard_normal((2, 3, 3))
V, W = RNG.standard_normal((2, 3))
S = M @ M.T + 3 * np.eye(3)
BATCH = RNG.standard_normal((4, 3))
IMAGE = RNG.standard_normal((2, 2, 5, 5))
KERNEL = RNG.standard_normal((3, 2, 3, 3))
INDEX = np.array([2, 0, 1, 1])


def energy(b: Any, x: Any) -> Any:
    return (b.tanh(x) ** 3).sum() + x.prod()


def network(b: Any, p: Any, x: Any) -> Any:
    return b.tanh(x @ p["w"] + p["b"])


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "grad": (lambda b, x: b.func.grad(lambda t: energy(b, t))(x), (V,)),
    "grad of grad": (lambda b, x: b.func.grad(lambda t: b.func.grad(lambda s: energy(b, s))(t).sum())(x), (V,)),
    "grad and value": (lambda b, x: b.func.grad_and_value(lambda t: energy(b, t))(x), (V,)),
    "argnums": (lambda b, x, y: b.func.grad(lambda s, t: (s * t.sin()).sum(), argnums=(1, 0))(x, y), (V, W)),
    "vjp": (lambda b, x, u: b.func.vjp(lambda t: (t.exp(), t.outer(t)), x)[1]((u, b.outer(u, u))), (V, W)),
    "jvp": (lambda b, x, t: b.func.jvp(lambda s: (s.exp(), s.outer(s)), (x,), (t,)), (V, W)),
    "jvp of grad": (lambda b, x, t: b.func.jvp(b.func.grad(lambda s: energy(b, s)), (x,), (t,)), (V, W)),
    "grad of jvp": (
        lambda b, x, t: b.func.grad(lambda s: b.func.jvp(lambda r: energy(b, r), (s,), (t,))[1])(x),
        (V, W),
    ),
    "jacrev": (lambda b, x: b.func.jacrev(lambda t: b.outer(t, t.sin()))(x), (V,)),
    "jacfwd": (lambda b, x: b.func.jacfwd(lambda t: b.outer(t, t.sin()))(x), (V,)),
    "jacrev of dict": (lambda b, x, y: b.func.jacrev(lambda t: {"a": t["x"] * t["y"]})({"x": x, "y": y}), (V, W)),
    "hessian": (lambda b, x: b.func.hessian(lambda t: energy(b, t))(x), (V,)),
    "third": (lambda b, x: b.func.jacfwd(b.func.hessian(lambda t: energy(b, t)))(x), (V,)),
    "linearize": (lambda b, x, t: b.func.linearize(lambda s: b.outer(s, s.exp()), x)[1](t), (V, W)),
    "linalg": (
        lambda b, a: b.func.jacrev(lambda t: b.linalg.solve(t, t.sin()).sum() + b.linalg.slogdet(t)[1])(a),
        (S,),
    ),
    "vmap": (lambda b, x: b.func.vmap(lambda t: (t.sin(), t.sum()))(x), (BATCH,)),
    "vmap dims": (lambda b, x, y: b.func.vmap(b.mul, in_dims=(1, None), out_dims=1)(x, y), (BATCH.T.copy(), V)),
    "vmap of vmap": (
        lambda b, x: b.func.vmap(b.func.vmap(b.dot, in_dims=(None, 0)), in_dims=(0, None))(x, x),
        (BATCH,),
    ),
    "vmap of grad": (lambda b, x: b.func.vmap(b.func.grad(lambda t: energy(b, t)))(x), (BATCH,)),
    "vmap of hessian": (lambda b, x: b.func.vmap(b.func.hessian(lambda t: energy(b, t)))(x), (BATCH,)),
    "vmap of jacrev": (lambda b, x: b.func.vmap(b.func.jacrev(lambda t: t.outer(t)))(x), (BATCH,)),
    "grad of vmap": (lambda b, x: b.func.grad(lambda t: b.func.vmap(lambda s: energy(b, s))(t).sum())(x), (BATCH,)),
    "jvp of vmap": (lambda b, x: b.func.jvp(b.func.vmap(lambda t: t.outer(t)), (x,), (x,)), (BATCH,)),
    "gradients of each sample": (
        lambda b, w, c, x: b.func.vmap(
            b.func.grad(lambda p, s: network(b, p, s).pow(2).sum()), in_dims=({"w": None, "b": None}, 0)
        )({"w": w, "b": c}, x),
        (M, V, BATCH),
    ),
    "ensemble": (
        lambda b, w, x: b.func.vmap(lambda k: network(b, {"w": k, "b": 0.5}, x))(w),
        (RNG.standard_normal((4, 3, 3)), BATCH),
    ),
    "vmap linalg": (
        lambda b, a, y: b.func.vmap(lambda s, t: (b.linalg.solve(s, t), b.linalg.cholesky(s), b.linalg.det(s)))(a, y),
        (np.stack([S, 2 * S]), BATCH[:2]),
    ),
    "vmap conv": (
        lambda b, x, k: b.func.vmap(b.nn.functional.conv2d, in_dims=(None, 0))(x, k),
        (IMAGE, np.stack([KERNEL, 2 * KERNEL])),
    ),
    "vmap index": (lambda b, x, i: b.func.vmap(lambda t, k: t[k])(x, i), (BATCH, INDEX)),
    "vmap gather": (lambda b, x, i: b.func.vmap(lambda k: x.gather(0, k.reshape(1)))(i), (V, INDEX)),
    "vmap softmax": (lambda b, x: b.func.vmap(lambda t: b.log_softmax(t, -1))(x), (BATCH,)),
    "vmap einsum": (lambda b, x, y: b.func.vmap(lambda t: b.einsum("i,ij->j", t, y))(x), (BATCH, M)),
    "vmap reductions": (
        lambda b, x: b.func.vmap(lambda t: (t.var(), t.amax(0), t.argmax(), t.cumsum(0), t.sort()[0]))(x),
        (BATCH,),
    ),
    "vmap chunks": (lambda b, x: b.func.vmap(lambda t: t.exp(), chunk_size=3)(x), (BATCH,)),
    "vmap where": (lambda b, x: b.func.vmap(lambda t: b.where(t > 0, t, t.sum()))(x), (BATCH,)),
    "vmap in place": (lambda b, x: b.func.vmap(lambda t: t.clone().mul_(2).add_(t))(x), (BATCH,)),
    "vmap stack": (lambda b, x, y: b.func.vmap(lambda t: b.stack([t, y]), out_dims=2)(x), (BATCH, V)),
}


def arrays(tree: Any, tensor: type) -> list[np.ndarray]:
    return [leaf.detach().numpy() for leaf in tree_leaves(tree) if isinstance(leaf, tensor)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    program, inputs = PROGRAMS[name]
    expected = arrays(program(torch, *map(torch.tensor, inputs)), torch.Tensor)
    results = arrays(program(wg, *map(wg.tensor, inputs)), wg.Tensor)
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-11)
        assert result.dtype == value.dtype
