"""Rings through graphs, of every kind, are collected: row X8 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import weakref

import pytest

import wengert as wg
from tests.lifetimes import Doubled, Marker, holding

pytestmark = pytest.mark.usefixtures("no_automatic_collection")


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def hook_on_tensor(x, marker):
    y = x * 2
    y.register_hook(holding(marker, y))


def hook_that_holds_a_later_result(x, marker):
    y = x * 2
    z = y * 3
    y.register_hook(holding(marker, z))


def hook_that_holds_several_results(x, marker):
    y = x * 2
    results = [marker] + [y * i for i in range(5)]
    y.register_hook(holding(results))


def hook_on_leaf(x, marker):
    leaf = x.detach().clone().requires_grad_()
    y = leaf * 2
    leaf.register_hook(holding(marker, y))
    leaf.register_post_accumulate_grad_hook(holding(marker, y))


def hooks_on_nodes(x, marker):
    y = x * 2
    z = (y * y).sum()
    y.grad_fn.register_hook(holding(marker, z))
    y.grad_fn.register_prehook(holding(marker, z))


def node_held_by_its_own_hook(x, marker):
    y = x * 2
    node = y.grad_fn
    node.register_hook(holding(marker, node))


def metadata(x, marker):
    y = x * 2
    z = y + y
    y.grad_fn.metadata["ring"] = (marker, z)


def attributes(x, marker):
    y = x * 2
    z = y * y  # saves y, with its attributes
    y.ring = (marker, z)


def context(x, marker):
    y = Doubled.apply(x)
    z = y * y + y
    y.grad_fn.ring = (marker, y, z)


def packed_tensors(x, marker):
    later = []

    def pack(tensor):
        return (marker, later, tensor)

    with wg.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed[2]):
        y = x.exp()
    later.append(y * y)


def packed_node(x, marker):
    later = []
    with wg.autograd.graph.saved_tensors_hooks(lambda t: (marker, later, t), lambda packed: packed[2]):
        y = x.exp()
    later.append((y * y).grad_fn)


def gradient_with_a_graph(x, marker):
    leaf = x.detach().clone().requires_grad_()
    leaf.tag = marker
    (leaf**3).sum().backward(create_graph=True)
    leaf.grad.register_hook(holding(marker))


def gradient_with_a_graph_twice(x, marker):
    leaf, other = x.detach().clone().requires_grad_(), x.detach().clone().requires_grad_()
    leaf.tag = marker
    for _ in range(2):
        (leaf**3 * other.exp()).sum().backward(create_graph=True)


def gradient_assigned(x, marker):
    leaf = x.detach().clone().requires_grad_()
    leaf.tag = marker
    leaf.grad = leaf * 2


def gradient_without_attributes(x, marker):
    leaf = x.detach().clone().requires_grad_()
    holder = leaf * 1
    holder.register_hook(holding(marker))
    holder.exp().sum().backward(create_graph=True)


def retained_gradient(x, marker):
    y = x.detach().clone().requires_grad_() * 1
    y.tag = marker
    y.retain_grad()
    (y**3).sum().backward(create_graph=True)


def gradients_of_two_leaves_in_each_other(x, marker):
    a, b = x.detach().clone().requires_grad_(), x.detach().clone().requires_grad_()
    a.tag = marker
    a.grad, b.grad = b * 2, a * 2


def view_and_base(x, marker):
    base = x * 1
    view = base[:1]
    view.mul_(2)
    base.register_hook(holding(marker, view))


def gradient_inside_a_backward(x, marker):
    class Inner(wg.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.marker = marker
            ctx.save_for_backward(t)
            return t * 1

        @staticmethod
        def backward(ctx, grad):
            (t,) = ctx.saved_tensors
            with wg.enable_grad():
                inner = t.detach().requires_grad_()
                (inner_grad,) = wg.autograd.grad((inner**2).sum(), inner, create_graph=True)
            return grad * inner_grad

    leaf = x.detach().clone().requires_grad_()
    Inner.apply(leaf).sum().backward(create_graph=True)


RINGS = [
    hook_on_tensor, hook_that_holds_a_later_result, hook_that_holds_several_results, hook_on_leaf, hooks_on_nodes,
    node_held_by_its_own_hook, metadata, attributes, context, packed_tensors, packed_node, gradient_with_a_graph,
    gradient_with_a_graph_twice, gradient_assigned, gradient_without_attributes, retained_gradient,
    gradients_of_two_leaves_in_each_other, view_and_base, gradient_inside_a_backward,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("ring", RINGS)
def test_X8_rings_are_collected(x, ring):
    marker = Marker()
    alive = weakref.ref(marker)
    ring(x, marker)
    del marker
    gc.collect()
    assert alive() is None
    del x


@pytest.mark.filterwarnings("ignore:Using backward")
def test_X8_nothing_that_is_in_use_is_broken(x):
    results = []
    for ring in (hook_that_holds_a_later_result, hook_on_leaf, metadata, attributes, context, gradient_with_a_graph):
        ring(x, Marker())
        y = x * 2
        z = y * y
        y.register_hook(holding(z))
        results.append(z)
        gc.collect()
    leaf = x.detach().clone().requires_grad_()
    (leaf**3).sum().backward(create_graph=True)
    gc.collect()
    (second,) = wg.autograd.grad(leaf.grad.sum(), leaf)
    assert second.tolist() == [6.0, 12.0]
    grad = leaf.grad
    del leaf
    gc.collect()
    assert grad.tolist() == [3.0, 12.0]
    assert grad.grad_fn is not None
    for z in results:
        z.sum().backward()
    assert x.grad.tolist() == [6 * 8.0, 6 * 16.0]


def test_X8_a_long_ring_needs_no_stack():
    leaf = wg.ones(1, requires_grad=True)
    leaf.tag = Marker()
    alive = weakref.ref(leaf.tag)
    h = leaf
    for _ in range(100_000):
        h = h * 1.0
    leaf.grad = h
    del leaf, h
    gc.collect()
    assert alive() is None
