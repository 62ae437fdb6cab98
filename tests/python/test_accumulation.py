"""Accumulation in leaves: one test for each row A1-A5 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import warnings
import weakref

import pytest

import wengert as wg


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def accumulate_recorded(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the reference cycle, once in a process
        loss.backward(create_graph=True)


def test_A1_first_gradient_never_aliases_the_users(x):
    gradient = wg.ones(2)
    x.backward(gradient)
    assert x.grad.data_ptr() != gradient.data_ptr()
    x.grad.add_(1)
    assert gradient.tolist() == [1.0, 1.0]


def test_A1_first_gradient_never_aliases_what_a_hook_kept(x):
    kept = []
    x.register_hook(kept.append)
    (x * 2).sum().backward()
    x.grad.add_(100)
    assert kept[0].tolist() == [2.0, 2.0]


def test_A2_later_gradients_are_added_in_place(x):
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert first.tolist() == [5.0, 5.0]


def test_A2_out_of_place_under_create_graph(x):
    (x * 2).sum().backward()
    first = x.grad
    accumulate_recorded((x**3).sum())
    assert x.grad is not first
    assert first.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [5.0, 14.0]
    x.grad = None


@pytest.mark.parametrize(
    ("leaf", "strides"),
    [
        (wg.ones(2, 3).t(), (1, 3)),
        (wg.ones(2, 3, 4).permute(2, 0, 1), (1, 12, 4)),
        (wg.ones(3, 4)[:, ::2], (2, 1)),
        (wg.ones(1, 3).expand(2, 3), (3, 1)),
    ],
)
def test_A3_layout_follows_a_dense_leaf_or_is_contiguous(leaf, strides):
    leaf = leaf.detach().requires_grad_()
    leaf.sum().backward()
    assert leaf.grad.stride() == strides


def test_A4_gradients_of_two_leaves_are_distinct(x):
    y = wg.ones(2, requires_grad=True)
    (x + y).sum().backward()
    x.grad.add_(100)
    assert y.grad.tolist() == [1.0, 1.0]


def test_A5_fan_in_changes_no_given_gradient(x):
    y = x * 1
    a, b = wg.ones(2), wg.full((2,), 10.0)
    wg.autograd.backward([y, y, y], [a, b, a])
    assert (a.tolist(), b.tolist()) == ([1.0, 1.0], [10.0, 10.0])
    assert x.grad.tolist() == [12.0, 12.0]


def test_A5_shared_buffers_are_not_changed(x):
    a, b = x * 1, x * 1
    seen = []
    a.register_hook(seen.append)
    b.register_hook(seen.append)
    (a + b).sum().backward()
    assert [grad.tolist() for grad in seen] == [[1.0, 1.0], [1.0, 1.0]]
    assert x.grad.tolist() == [2.0, 2.0]


def test_an_accumulator_between_two_graphs_is_as_new():
    w = wg.ones(2, requires_grad=True)
    first = (w * 2).grad_fn.next_functions[0][0]
    first.register_prehook(lambda grads: (grads[0] * 100,))
    del first  # and its hook with it: no graph is left
    (w * 2).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]

    for _ in range(3):  # the accumulator rests in between
        w * 2
    w.data = wg.ones(3, dtype=wg.float64)
    w.grad = None
    (w * 2).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0, 2.0]
    assert w.grad.dtype == wg.float64

    dead = weakref.ref(w)
    w * 2
    del w
    gc.collect()
    assert dead() is None


def test_A1_a_gradient_that_is_a_view_of_nothing_else_is_kept_as_it_is():
    w = wg.ones(3, 2, requires_grad=True)
    (wg.ones(4, 2) @ w.T).sum().backward()
    assert not w.grad._is_view()
    w.grad.mul_(2 * wg.ones(2, requires_grad=True))  # a view made by backward could not be written with a history
    assert w.grad.grad_fn is not None


def test_A4_a_gradient_that_is_a_view_of_another_one_is_copied():
    w = wg.ones(3, 2, requires_grad=True)
    transposed = w.T
    transposed.retain_grad()
    (wg.ones(4, 2) @ transposed).sum().backward()
    assert w.grad.data_ptr() != transposed.grad.data_ptr()
