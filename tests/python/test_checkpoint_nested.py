"""Checkpoints inside of checkpoints, and passes that share a recomputation: rows K7 and K11."""

import functools
import gc
import weakref

import pytest

import wengert as wg
from tests.checkpoints import Counting, again, body, expected
from wengert.autograd import grad
from wengert.utils.checkpoint import CheckpointError, GraphExecGroup, checkpoint, set_checkpoint_early_stop


@pytest.fixture
def x():
    return wg.tensor([0.1, 0.2, 0.3], requires_grad=True)


# --- K7
@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_k7_arbitrary_nesting(x, depth, early_stop):
    def nested(depth, x):
        if depth == 0:
            return body(x)
        return again(functools.partial(nested, depth - 1), x.cos()).sin()

    def plain(depth, x):
        return body(x) if depth == 0 else plain(depth - 1, x.cos()).sin()

    with set_checkpoint_early_stop(early_stop):
        y = nested(depth, x)
    assert grad(y.sum(), x)[0].tolist() == pytest.approx(expected(functools.partial(plain, depth), x))


def test_k7_inner_arguments_are_saved_by_the_parent():
    x = wg.ones(1000, requires_grad=True)
    inner_inputs = []

    def outer(x):
        y = x.exp()
        inner_inputs.append(weakref.ref(y))
        return again(body, y).sin()

    z = again(outer, x)
    assert inner_inputs[0]() is None
    z.sum().backward()


def test_k7_grad_inside(x):
    def f(x):
        y = again(body, x)
        (g,) = grad(y.sum(), x, create_graph=True)
        return g * x

    y = again(f, x)
    assert grad(y.sum(), x)[0].tolist() == pytest.approx(
        expected(lambda x: grad(body(x).sum(), x, create_graph=True)[0] * x, x)
    )


def test_k7_the_graph_dies_by_counting_alone(x):
    gc.collect()
    gc.disable()
    try:
        y = again(lambda x: again(body, x.exp()).sin(), x)
        reference = weakref.ref(y.grad_fn)
        y.sum().backward(retain_graph=True)
        del y
        assert reference() is None
    finally:
        gc.enable()


# --- K11
def test_k11_group_shares_a_recomputation(x):
    f = Counting(lambda x: (x.sin().exp(), x.cos().exp()))
    a, b = again(f, x)
    with GraphExecGroup():
        a.sum().backward()
        b.sum().backward()
    assert f.runs == 2
    assert x.grad.tolist() == pytest.approx(expected(lambda x: x.sin().exp() + x.cos().exp(), x))


def test_k11_misuse(x):
    with GraphExecGroup() as group, pytest.raises(RuntimeError, match="cannot be nested"), group:
        pass
    with GraphExecGroup():
        y = again(body, x).sum()
        y.backward(retain_graph=True)
        with pytest.raises(CheckpointError, match="Performing two backward calls that overlap"):
            y.backward()


def test_400_levels_need_no_deeper_recursion_than_their_functions():
    def level(u, n):
        return checkpoint(level, u * 1, n - 1, use_reentrant=False) if n else u.sin()

    x = wg.tensor([0.3], dtype=wg.float64, requires_grad=True)
    level(x, 400).backward()
    wg.testing.assert_close(x.grad, x.detach().cos())
