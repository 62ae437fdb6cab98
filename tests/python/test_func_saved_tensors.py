"""Row U10: saved-tensor hooks and checkpoints inside transforms, and around them: the derivatives are those without."""

from __future__ import annotations

import math

import pytest

import wengert as wg
from wengert.autograd.graph import save_on_cpu, saved_tensors_hooks
from wengert.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from wengert.utils.checkpoint import checkpoint

x = wg.tensor([0.3, -0.7], dtype=wg.float64)
batch = wg.tensor([[0.3, -0.7], [0.1, 0.2], [1.0, 2.0]], dtype=wg.float64)


def f(u):
    return (u.sin() * u).exp().sum()


def gradient(u):
    return math.exp(math.sin(u) * u) * (math.cos(u) * u + math.sin(u))


def second(u):
    inner = math.cos(u) * u + math.sin(u)
    return math.exp(math.sin(u) * u) * (inner**2 + 2 * math.cos(u) - math.sin(u) * u)


gradients = wg.tensor([[gradient(u) for u in row] for row in batch.tolist()], dtype=wg.float64)
hessians = wg.stack([wg.diag(wg.tensor([second(u) for u in row], dtype=wg.float64)) for row in batch.tolist()])


def checkpointed(use_reentrant):
    return lambda u: checkpoint(f, u, use_reentrant=use_reentrant)


def nested(u):
    return checkpoint(lambda v: checkpoint(f, v * 1, use_reentrant=False), u, use_reentrant=False)


def hooked(u):
    with saved_tensors_hooks(lambda t: t.numpy().copy(), wg.tensor):
        return f(u)


def on_cpu(u):
    with save_on_cpu():
        return f(u)


TRANSFORMED = {
    "grad": lambda f: (grad(f)(x), gradients[0]),
    "vjp": lambda f: (vjp(f, x)[1](wg.tensor(1.0, dtype=wg.float64))[0], gradients[0]),
    "jacrev": lambda f: (jacrev(f)(x), gradients[0]),
    "jacfwd": lambda f: (jacfwd(f)(x), gradients[0]),
    "jvp": lambda f: (jvp(f, (x,), (wg.ones_like(x),))[1], gradients[0].sum()),
    "linearize": lambda f: (linearize(f, x)[1](wg.ones_like(x)), gradients[0].sum()),
    "hessian": lambda f: (hessian(f)(x), hessians[0]),
    "forward over reverse": lambda f: (jacfwd(jacrev(f))(x), hessians[0]),
    "reverse over forward": lambda f: (jacrev(jacfwd(f))(x), hessians[0]),
    "vmap of grad": lambda f: (vmap(grad(f))(batch), gradients),
    "grad of vmap": lambda f: (grad(lambda u: vmap(f)(u).sum())(batch), gradients),
    "vmap of hessian": lambda f: (vmap(hessian(f))(batch), hessians),
    "vmap of forward over reverse": lambda f: (vmap(jacfwd(jacrev(f)))(batch), hessians),
    "vmap of reverse over forward": lambda f: (vmap(jacrev(jacfwd(f)))(batch), hessians),
}
KEPT_OTHERWISE = {
    "checkpoint": checkpointed(use_reentrant=False),
    "reentrant checkpoint": checkpointed(use_reentrant=True),
    "nested checkpoints": nested,
    "hooks": hooked,
    "save_on_cpu": on_cpu,
}


@pytest.mark.parametrize("transform", TRANSFORMED)
@pytest.mark.parametrize("kept", KEPT_OTHERWISE)
def test_u10_functions_that_keep_otherwise(kept, transform):
    found, wanted = TRANSFORMED[transform](KEPT_OTHERWISE[kept])
    wg.testing.assert_close(found, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("transform", TRANSFORMED)
def test_hooks_around_a_transform(transform):
    with saved_tensors_hooks(lambda t: t.numpy().copy(), wg.tensor):
        found, wanted = TRANSFORMED[transform](f)
    wg.testing.assert_close(found, wanted, rtol=1e-13, atol=1e-13)


def test_a_transform_inside_a_checkpoint():
    u = x.clone().requires_grad_()
    checkpoint(lambda v: grad(f)(v).sum(), u, use_reentrant=False).backward()
    wg.testing.assert_close(u.grad, hessians[0].sum(0), rtol=1e-13, atol=1e-13)


def test_hooks_see_the_whole_batch():
    shapes = []
    with saved_tensors_hooks(lambda t: shapes.append(tuple(t.shape)) or t, lambda t: t):
        vmap(grad(lambda u: u.sin().sum()))(batch)
    assert shapes == [(3, 2)]


def test_tangents_of_saved_tensors_survive_hooks():
    u = x.clone().requires_grad_()
    with wg.autograd.forward_ad.dual_level(), saved_tensors_hooks(lambda t: t.numpy().copy(), wg.tensor):
        dual = wg.autograd.forward_ad.make_dual(u, wg.ones_like(x))
        (slope,) = wg.autograd.grad((dual * dual.exp()).sum(), u, create_graph=True)
        tangent = wg.autograd.forward_ad.unpack_dual(slope).tangent
    wg.testing.assert_close(tangent, ((2 + x) * x.exp()), rtol=1e-13, atol=1e-13)


def test_a_checkpoint_inside_a_transform_dies_with_its_graph():
    import gc
    import weakref

    gc.collect()
    gc.disable()
    try:

        def region(v):
            return (v.sin() * v).sum()

        reference = weakref.ref(region)
        grad(lambda u, region=region: checkpoint(region, u, use_reentrant=False))(x)
        del region
        assert reference() is None
    finally:
        gc.enable()
