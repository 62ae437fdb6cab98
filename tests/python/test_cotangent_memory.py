"""Cotangents whose memory becomes that of the next one: nobody who still looks at one may see it change."""

from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wengert as wg

UNARY = (wg.tanh, wg.exp, wg.sin, wg.neg, wg.square, lambda t: t * 0.5, lambda t: 2.0 - t)
BINARY = (wg.mul, wg.add, wg.sub, wg.maximum, wg.hypot, lambda a, b: a / (2.0 + b * b))

# Each step names its operation and its operands, counted from the latest result backwards.
steps = st.lists(
    st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 3), st.integers(0, 3)),
    min_size=2,
    max_size=12,
)


def program(x, chosen):
    """Run the steps on `x` and return all results, the last one depending on most of them."""
    values = [x]
    for operation, first, second in chosen:
        a, b = values[-1 - first % len(values)], values[-1 - second % len(values)]
        values.append(UNARY[operation](a) if operation < len(UNARY) else BINARY[operation - len(UNARY)](a, b))
    return values


@given(
    chosen=steps, watched=st.sets(st.integers(1, 12)), retained=st.sets(st.integers(1, 12)), passes=st.integers(1, 2)
)
def test_what_hooks_and_retain_grad_keep_does_not_change(chosen, watched, retained, passes):
    x = wg.tensor([0.3, -0.7, 1.1], dtype=wg.float64, requires_grad=True)
    values = program(x, chosen)
    kept = []
    for i, value in enumerate(values):
        if i in watched:
            value.register_hook(lambda g: kept.append((g, g.clone())))
        if i in retained:
            value.retain_grad()
    given_by_user = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64)
    for _ in range(passes):
        values[-1].backward(given_by_user, retain_graph=True)
    assert given_by_user.tolist() == [1.0, 2.0, 3.0]
    for seen, then in kept:
        np.testing.assert_array_equal(seen.detach().numpy(), then.detach().numpy())  # NaN is as it was, too

    plain = wg.tensor([0.3, -0.7, 1.1], dtype=wg.float64, requires_grad=True)
    fresh = program(plain, chosen)
    targets = [plain, *(fresh[i] for i in sorted(retained) if i < len(fresh))]
    expected = wg.autograd.grad(fresh[-1], targets, given_by_user, allow_unused=True)
    found = [x.grad, *(values[i].grad for i in sorted(retained) if i < len(values))]
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.numpy(), passes * b.numpy(), rtol=1e-12)


def test_a_chain_needs_one_block_on_the_way_back():
    x = wg.rand(3, requires_grad=True)
    addresses = []
    t = x
    for _ in range(4):
        t = wg.exp(t * 0.1)
        t.register_hook(lambda g: addresses.append(g.data_ptr()))
    t.backward(wg.ones(3))
    assert len(set(addresses[1:])) == 1  # the first is the caller's
    assert x.grad.data_ptr() == addresses[-1]


@pytest.mark.parametrize("keep", ["tensor", "detached", "array", "view", "capsule", "attribute"])
def test_whatever_refers_to_a_cotangent_protects_it(keep):
    kept = []

    def hook(g):
        if keep == "attribute":  # the object is needed again if the tensor is seen again
            g.note = kept
            kept.append(g.clone())
            return
        kept.append(
            {
                "tensor": lambda: g,
                "detached": g.detach,
                "array": g.numpy,
                "view": lambda: g[1:],
                "capsule": g.__dlpack__,
            }[keep]()
        )
        kept.append(g.clone())

    x = wg.tensor([0.5, 1.0, 1.5], requires_grad=True)
    a = wg.exp(x)
    b = wg.sin(a)
    a.register_hook(hook)
    b.sum().backward()
    expected = (wg.cos(a) * a).detach()
    assert wg.allclose(x.grad, expected)
    assert not hasattr(x.grad, "note")
    if keep == "capsule":
        kept[0] = wg.from_dlpack(kept[0])
    if keep != "attribute":
        seen = wg.as_tensor(kept[0])
        assert wg.equal(seen, kept[1][1:] if keep == "view" else kept[1])


def test_threads_agree_with_one_thread():
    def gradients(threads):
        before = wg.get_num_threads()
        wg.set_num_threads(threads)
        try:
            x = wg.linspace(-1, 1, 50_000, dtype=wg.float64).requires_grad_()
            branches = [wg.tanh(x * k) * wg.exp(-x * x) for k in range(1, 6)]
            y = sum(wg.sin(a) * b for a, b in pairwise(branches))
            return wg.autograd.grad(y.sum(), x)[0]
        finally:
            wg.set_num_threads(before)

    assert wg.equal(gradients(1), gradients(4))
