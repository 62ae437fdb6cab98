"""Hooks on nodes, and callbacks of the engine: rows H3 to H5, H12 and H16 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from wengert.autograd import Variable, grad


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_H3_node_post_hook(x):
    w = wg.ones(2, requires_grad=True)
    y = x * w
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), outputs[0].tolist())))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, inputs[1]))
    y.sum().backward()
    assert seen == [(2, [1.0, 1.0])]
    assert x.grad.tolist() == [10.0, 10.0]
    assert w.grad.tolist() == [1.0, 2.0]


def test_H3_errors(x):
    w = wg.ones(2, requires_grad=True)
    y = x * w
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
    with pytest.raises(RuntimeError, match=r"incorrect number of values \(got 1, but expected 2\)"):
        y.sum().backward()
    y = x * w
    y.grad_fn.register_hook(lambda inputs, outputs: inputs[0])
    with pytest.raises(TypeError, match="expected tuple, but hook returned"):
        y.sum().backward()


def test_H4_node_pre_hook(x):
    order = []
    y = x * 2
    y.grad_fn.register_prehook(lambda gradients: order.append("node") or (gradients[0] * 10,))
    y.register_hook(lambda gradient: order.append("tensor"))
    y.grad_fn.register_prehook(lambda gradients: order.append("node again"))
    y.sum().backward()
    assert order == ["tensor", "node", "node again"]
    assert x.grad.tolist() == [20.0, 20.0]


def test_H4_removed_by_an_earlier_hook_still_runs(x):
    y = x * 2
    ran = []
    handles = []

    def first(gradients):
        handles[1].remove()
        handles[1].remove()

    handles.append(y.grad_fn.register_prehook(first))
    handles.append(y.grad_fn.register_prehook(lambda gradients: ran.append(1)))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert ran == [1]


def test_H5_accumulate_grad_hooks(x):
    node = x.view_as(x).grad_fn.next_functions[0][0]
    seen = []
    node.register_prehook(lambda gradients: seen.append("pre"))
    node.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].tolist())))
    grad(x.sum(), x)
    assert seen == []
    x.sum().backward()
    assert seen == ["pre", ((), [1.0, 1.0])]


def test_H12_hook_registered_while_its_node_runs(x):
    y = x * 2
    seen = []

    def outer(inputs, outputs):
        y.grad_fn.register_hook(lambda *_: seen.append(1))

    handle = y.grad_fn.register_hook(outer)
    y.sum().backward(retain_graph=True)
    assert seen == []
    handle.remove()
    y.sum().backward()
    assert seen == [1]


def test_H16_engine_callbacks(x):
    queue = Variable._execution_engine.queue_callback
    order = []

    def hook(gradient):
        queue(lambda: (order.append("first"), queue(lambda: order.append("second"))))
        order.append("hook")

    x.register_hook(hook)
    x.sum().backward()
    assert order == ["hook", "first", "second"]
    with pytest.raises(RuntimeError):
        queue(print)
