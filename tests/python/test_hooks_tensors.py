"""Hooks on tensors and leaves, and retained gradients: rows H1, H2, H6, H8, H11 and H15 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from tests.functions import function
from wengert.autograd import grad


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_H1_register_hook(x):
    y = x * 2
    seen = []
    y.register_hook(lambda gradient: seen.append(gradient.tolist()))
    y.register_hook(lambda gradient: gradient * 10)
    y.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [20.0, 20.0]


def test_H1_runs_where_grad_only_captures(x):
    y = x * 2
    y.register_hook(lambda gradient: gradient * 10)
    assert grad(y.sum(), y)[0].tolist() == [10.0, 10.0]
    x.register_hook(lambda gradient: gradient + 1)
    assert grad((x * 2).sum(), x)[0].tolist() == [3.0, 3.0]


def test_H1_same_function_twice_and_without_name(x):
    class Callable:
        def __call__(self, gradient):
            return gradient * 2

    hook = Callable()
    x.register_hook(hook)
    x.register_hook(hook)
    x.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_H1_in_place_separates_old_and_new_hooks(x):
    y = x * 2
    seen = []
    y.register_hook(lambda gradient: seen.append(("old", gradient.tolist())))
    y.mul_(3)
    y.register_hook(lambda gradient: seen.append(("new", gradient.tolist())))
    y.sum().backward()
    assert seen == [("new", [1.0, 1.0]), ("old", [3.0, 3.0])]


def test_H1_errors(x):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        wg.ones(1).register_hook(print)

    def backward_with(hook):
        y = x * 2
        y.register_hook(hook)
        y.sum().backward()

    with pytest.raises(TypeError, match="expected Variable, but hook returned"):
        backward_with(lambda gradient: 3)

    def shorten(gradient):
        return gradient[:1]

    with pytest.raises(RuntimeError, match="hook 'shorten' has changed the size of value"):
        backward_with(shorten)
    with pytest.raises(RuntimeError, match="has changed the type of value"):
        backward_with(lambda gradient: gradient.double())


def test_H2_hooks_on_views_before_a_write_do_not_fire(x):
    base = x * 2
    view, sibling = base[:1], base[1:]
    seen = []
    view.register_hook(lambda grad: seen.append("old"))
    sibling.register_hook(lambda grad: seen.append("sibling"))
    view.mul_(3)
    assert view.grad_fn is not None
    view.register_hook(lambda grad: seen.append("new"))
    (base.sum() + view.sum()).backward()
    assert seen == ["new"]


def test_H6_post_accumulate_grad_hook(x):
    seen = []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.tolist()))

    def step(leaf):
        with wg.no_grad():
            leaf -= leaf.grad
        leaf.grad = None

    x.register_post_accumulate_grad_hook(step)
    grad(x.sum(), x)
    assert seen == []
    x.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad is None
    assert x.tolist() == [0.0, 1.0]


def test_H6_errors(x):
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        wg.ones(1).register_post_accumulate_grad_hook(print)
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad)
    with pytest.raises(RuntimeError, match=r"hooks should return None."):
        x.sum().backward()


def test_H8_one_call_for_a_leaf_used_twice(x):
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.tolist()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [[5.0, 5.0]]


def test_H11_hooks_in_double_backward(x):
    seen = []
    x.register_hook(lambda gradient: seen.append((wg.is_grad_enabled(), gradient.requires_grad)))
    (first,) = grad((x**3).sum(), x, create_graph=True)
    grad(first.sum(), x)
    assert seen == [(True, True), (False, False)]


def test_H15_retain_grad(x):
    x.retain_grad()
    assert x.retains_grad is False
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.register_hook(lambda gradient: gradient * 5)
    assert y.retains_grad is True
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert y.grad.tolist() == [10.0, 10.0]
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        wg.ones(1).retain_grad()


def test_H15_retain_grad_moves_with_in_place(x):
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * 4).sum().backward()
    assert y.grad.tolist() == [4.0, 4.0]


def test_post_accumulate_hooks_run_without_a_gradient_too():
    """As in PyTorch: the hook runs when the pass has reached the leaf, whatever arrived."""
    x = wg.ones(2, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    function(backward=lambda ctx, g: None).apply(x).sum().backward()
    assert seen == [None]
