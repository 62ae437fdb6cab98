"""Programs and errors of autograd.functional, in wengert and in PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.utils._pytree import tree_leaves

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # of torch.jit

V, W = np.random.default_rng(0).standard_normal((2, 3))
WAYS = [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}]


def energy(b: Any, x: Any, y: Any) -> Any:
    return (b.tanh(x) ** 3).sum() + (x * y).prod()


def pair(b: Any, x: Any, y: Any) -> Any:
    return b.outer(x, y.sin()), x.sum() * y


def squares(b: Any, x: Any) -> Any:
    return x * x


PROGRAMS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "vjp": lambda b, f, x, y: f.vjp(lambda *t: pair(b, *t), (x, y), (b.outer(y, x), x)),
    "vjp without v": lambda b, f, x, y: f.vjp(lambda t: energy(b, t, y), x),
    "vjp of a number": lambda b, f, x, y: f.vjp(lambda t: t.sum().reshape(1, 1), x),
    "vjp of integers": lambda b, f, x, y: f.vjp(lambda t: (t * t, t.long()), x, (y, y)),
    "jvp": lambda b, f, x, y: f.jvp(lambda *t: pair(b, *t), (x, y), (y, x)),
    "jvp of a constant": lambda b, f, x, y: f.jvp(lambda t: (t * t, y), x, y),
    "vhp": lambda b, f, x, y: f.vhp(lambda *t: energy(b, *t), (x, y), (y, x)),
    "hvp": lambda b, f, x, y: f.hvp(lambda *t: energy(b, *t), (x, y), (y, x)),
    "hvp of a matrix": lambda b, f, x, y: f.hvp(lambda t: (t**3).sum().reshape(1, 1), x, y),
    "independent": lambda b, f, x, y: f.vhp(lambda s, t: (s**3).sum(), (x, y), (y, x)),
    "nested": lambda b, f, x, y: f.jacobian(lambda t: f.vjp(lambda s: s.sin(), t, y, create_graph=True)[1], x),
    "nested, detached": lambda b, f, x, y: f.jacobian(lambda t: t * f.vjp(lambda s: s.sin(), t, y)[1], x),
    "in no_grad": lambda b, f, x, y: b.no_grad()(lambda: f.jacobian(lambda t: t.exp(), x))(),
    "mixed dtypes": lambda b, f, x, y: f.jvp(lambda t: t.exp(), x, y.float()),
    "complex": lambda b, f, x, y: f.jacobian(lambda t: (t * t.conj()).real.sum(), b.complex(x, y)),
}
for _i, _way in enumerate(WAYS):
    PROGRAMS |= {
        f"jacobian {_i}": lambda b, f, x, y, way=_way: f.jacobian(lambda *t: pair(b, *t), (x, y), **way),
        f"jacobian of one {_i}": lambda b, f, x, y, way=_way: f.jacobian(lambda t: pair(b, t, y), x, **way),
        f"jacobian of a constant {_i}": lambda b, f, x, y, way=_way: f.jacobian(lambda t: (t * t, y), x, **way),
        f"jacobian of a number {_i}": lambda b, f, x, y, way=_way: f.jacobian(lambda t: t.prod(), x, **way),
    }
    _outer = {"outer_jacobian_strategy" if key == "strategy" else key: value for key, value in _way.items()}
    PROGRAMS[f"hessian {_i}"] = lambda b, f, x, y, way=_outer: f.hessian(lambda *t: energy(b, *t), (x, y), **way)


def arrays(tree: Any, tensor: type) -> list[tuple[np.ndarray, bool]]:
    return [(leaf.detach().numpy(), leaf.requires_grad) for leaf in tree_leaves(tree) if isinstance(leaf, tensor)]


@pytest.mark.parametrize("tracked", [False, True], ids=["", "tracked"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, tracked: bool) -> None:
    def run(b: Any) -> list[tuple[np.ndarray, bool]]:
        x, y = (b.tensor(value, requires_grad=tracked) for value in (V, W))
        return arrays(PROGRAMS[name](b, b.autograd.functional, x, y), b.Tensor)

    for (result, connected), (value, theirs) in zip(run(wg), run(torch), strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-6 if "mixed" in name else 1e-9, atol=1e-11)
        assert result.dtype == value.dtype
        assert not connected
        assert not theirs or "2" in name  # PyTorch's forward mode does not detach


CONNECTED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "vjp": lambda f, x, y: f.vjp(lambda t: t.sin(), x, y, create_graph=True),
    "jvp": lambda f, x, y: f.jvp(lambda t: t.sin(), x, y, create_graph=True),
    "vhp": lambda f, x, y: f.vhp(lambda t: (t**3).sum(), x, y, create_graph=True),
    "hvp": lambda f, x, y: f.hvp(lambda t: (t**3).sum(), x, y, create_graph=True),
    "jacobian": lambda f, x, y: (f.jacobian(lambda t: t.sin(), x, create_graph=True),) * 2,
    "vectorized": lambda f, x, y: (f.jacobian(lambda t: t.sin(), x, create_graph=True, vectorize=True),) * 2,
    "hessian": lambda f, x, y: (f.hessian(lambda t: (t**4).sum(), x, create_graph=True),) * 2,
}


@pytest.mark.parametrize("tracked", [False, True], ids=["", "tracked"])
@pytest.mark.parametrize("name", CONNECTED)
def test_create_graph(name: str, tracked: bool) -> None:
    def run(b: Any) -> list[Any]:
        x, y = (b.tensor(value, requires_grad=tracked) for value in (V, W))
        results = CONNECTED[name](b.autograd.functional, x, y)
        assert all(result.requires_grad for result in results)
        if tracked:
            results = b.autograd.grad(results[1].sum(), (x, y), allow_unused=True)
        return [None if r is None else r.detach().numpy() for r in results]

    for result, value in zip(run(wg), run(torch), strict=True):
        assert (result is None) == (value is None)
        if value is not None:
            np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-11)


def linear(x: Any) -> Any:
    return (2 * x).sum()


def ignores(x: Any, w: Any) -> Any:
    return (x**3).sum()


ERRORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    f"{product} {name}": lambda f, x, y, p=product, c=call: c(f, getattr(f, p), x, y)
    for product in ("vjp", "jvp", "vhp", "hvp")
    for name, call in {
        "independent": lambda f, p, x, y: p(ignores, (x, x), None if p is f.vjp else (y, y), strict=True),
        "constant": lambda f, p, x, y: p(lambda t: y.sum(), x, None if p is f.vjp else y, strict=True),
        "linear": lambda f, p, x, y: p(linear, x, None if p is f.vjp else y, True, True),
        "quadratic": lambda f, p, x, y: p(lambda t: (t * t).sum(), x, None if p is f.vjp else y, True, True),
        "list": lambda f, p, x, y: p(linear, [x]),
        "member": lambda f, p, x, y: p(linear, (x, 1)),
        "returns a list": lambda f, p, x, y: p(lambda t: [t], x, y),
        "no vector": lambda f, p, x, y: p(lambda t: t * 2, x),
        "size": lambda f, p, x, y: p(linear, x, y[:2]),
        "entry": lambda f, p, x, y: p(lambda *t: t, (x, x), (y, y[:2])),
        "length": lambda f, p, x, y: p(lambda *t: t, (x, x), (y,)),
        "number": lambda f, p, x, y: p(linear, x, (y, y)),
        "vector": lambda f, p, x, y: p(linear, x, [y]),
        "several": lambda f, p, x, y: p(lambda t: (t.sum(), t.sum()), x, y),
        "not one": lambda f, p, x, y: p(lambda t: t * 2, x, y),
    }.items()
}
ERRORS |= {
    f"{matrix} {name}": lambda f, x, y, m=matrix, c=call: c(getattr(f, m), x, y)
    for matrix in ("jacobian", "hessian")
    for name, call in {
        "independent": lambda m, x, y: m(ignores, (x, x), strict=True),
        "constant": lambda m, x, y: m(lambda t: y.sum(), x, strict=True),
        "linear": lambda m, x, y: m(linear, x, True, True),
        "quadratic": lambda m, x, y: m(lambda t: (t * t).sum(), x, True, True),
        "list": lambda m, x, y: m(linear, [x]),
        "strict, vectorized": lambda m, x, y: m(lambda t: (t**3).sum(), x, strict=True, vectorize=True),
        "several": lambda m, x, y: m(lambda t: (t.sum(), [t]), x),
    }.items()
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str) -> None:
    def run(b: Any) -> tuple[str, str]:
        x, y = b.tensor(V, requires_grad=True), b.tensor(W)
        try:
            ERRORS[name](b.autograd.functional, x, y)
        except Exception as error:
            return type(error).__name__, str(error)
        return "", ""

    (ours, message), (theirs, wording) = run(wg), run(torch)
    assert ours == theirs
    # We add what was found and what to do; the first sentence or what is before the values stays.
    start = re.split(r"[.,:<(]|torch|This is not|prevents|which|as it|\bbut got", wording)[0]
    assert message.startswith(start) or "not supported together" in message
