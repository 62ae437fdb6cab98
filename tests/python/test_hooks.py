"""Hooks: one test for each row H1-H16 of the table of features (H14 belongs to the nn layer)."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import pickle
import weakref
from collections import OrderedDict

import pytest

import wengert as wg
from wengert.autograd import Variable, grad
from wengert.autograd.graph import get_gradient_edge, register_multi_grad_hook
from wengert.utils.hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks


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


def test_H7_handle(x):
    handle = x.register_hook(lambda gradient: gradient * 2)
    assert isinstance(handle, RemovableHandle)
    handle.remove()
    handle.remove()
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with x.register_hook(lambda gradient: gradient * 2):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    assert x.register_hook(print).id < x.register_hook(print).id


def test_H7_handle_removed_inside_its_hook(x):
    seen = []

    def once(gradient):
        seen.append(1)
        handle.remove()

    handle = x.register_hook(once)
    x.sum().backward()
    x.sum().backward()
    assert seen == [1]


def test_H7_handle_is_weak_and_picklable():
    hooks = OrderedDict()
    extra = OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = extra[handle.id] = "hook"
    copy = pickle.loads(pickle.dumps(handle))
    assert copy.id == handle.id
    copy.remove()
    assert hooks == {handle.id: "hook"}
    handle.remove()
    assert not hooks
    assert not extra
    reference = weakref.ref(hooks)
    del hooks
    gc.collect()
    assert reference() is None
    handle.remove()
    pickle.loads(pickle.dumps(handle)).remove()
    assert RemovableHandle(OrderedDict()).id > handle.id


def test_H8_one_call_for_a_leaf_used_twice(x):
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.tolist()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [[5.0, 5.0]]


def test_H9_multi_grad_hook_all(x):
    w, unused = wg.ones(2, requires_grad=True), wg.ones(1, requires_grad=True)
    seen = []
    handle = register_multi_grad_hook(
        (x, w, unused), lambda gradients: seen.append([g if g is None else g.tolist() for g in gradients])
    )
    (x * w).sum().backward()
    assert seen == [[[1.0, 1.0], [1.0, 2.0], None]]
    (x * 2).sum().backward()
    assert seen[1:] == [[[2.0, 2.0], None, None]]
    handle.remove()
    (x * w).sum().backward()
    assert len(seen) == 2


def test_H9_multi_grad_hook_of_edges(x):
    y = x * 2
    seen = []
    register_multi_grad_hook((get_gradient_edge(y), x), lambda gradients: seen.append(len(gradients)))
    y.sum().backward()
    assert seen == [2]


def test_H9_failed_pass_does_not_call(x):
    seen = []
    y, z = x.exp(), x.sin()

    def fail(gradient):
        raise ValueError("fails")

    handle = y.register_hook(fail)
    register_multi_grad_hook((y, z), seen.append)
    with pytest.raises(ValueError, match="fails"):
        (y * z).sum().backward(retain_graph=True)
    assert seen == []
    handle.remove()
    (y * z).sum().backward()
    assert len(seen) == 1


def test_H9_errors(x):
    with pytest.raises(ValueError, match="Expects mode"):
        register_multi_grad_hook((x,), print, mode="some")
    with pytest.raises(AssertionError):
        register_multi_grad_hook((x, wg.ones(1)), print)


def test_H10_multi_grad_hook_any(x):
    seen = []
    y, z = x * 2, x * 3
    register_multi_grad_hook((y, z, wg.ones(1)), lambda gradient: seen.append(gradient.tolist()), mode="any")
    (y + z).sum().backward(retain_graph=True)
    assert seen == [[1.0, 1.0]]
    (y + z).sum().backward()
    assert len(seen) == 2


def test_H11_hooks_in_double_backward(x):
    seen = []
    x.register_hook(lambda gradient: seen.append((wg.is_grad_enabled(), gradient.requires_grad)))
    (first,) = grad((x**3).sum(), x, create_graph=True)
    grad(first.sum(), x)
    assert seen == [(True, True), (False, False)]


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


def test_H13_unserializable_hook(x):
    @unserializable_hook
    def quiet(gradient):
        return None

    x.register_hook(quiet)
    warn_if_has_hooks(x)
    x.register_hook(lambda gradient: None)
    with pytest.warns(UserWarning, match="will not be serialized"):
        warn_if_has_hooks(x)


def test_H14_backward_hook_around_a_layer(x):
    seen = []
    hook = wg.utils.hooks.BackwardHook(
        "layer",
        [lambda *gradients: seen.append(gradients), lambda layer, inputs, outputs: (inputs[0] * 100, None)],
        [lambda layer, outputs: (outputs[0] * 10,)],
    )
    inside, number = hook.setup_input_hook((x, 5))
    out = hook.setup_output_hook(inside * 3)
    out.sum().backward()
    layer, inputs, outputs = seen[0]
    assert (layer, number) == ("layer", 5)
    assert (inputs[0].tolist(), inputs[1], outputs[0].tolist()) == ([30.0, 30.0], None, [10.0, 10.0])
    assert x.grad.tolist() == [3000.0, 3000.0]


def test_H14_no_input_requires_grad(x):
    seen = []
    hook = wg.utils.hooks.BackwardHook("layer", [lambda *gradients: seen.append(gradients)], [])
    (constant,) = hook.setup_input_hook((wg.ones(2),))
    out = hook.setup_output_hook([constant * x, "text"])
    with pytest.warns(UserWarning, match="Full backward hook is firing"):
        out[0].sum().backward()
    assert (seen[0][1], out[1]) == ((None,), "text")


@pytest.mark.parametrize("gradients", [(None, None), (), (1, 2, 3)])
def test_H14_wrong_number_of_gradients(x, gradients):
    hook = wg.utils.hooks.BackwardHook("layer", [lambda *_: gradients], [])
    (inside,) = hook.setup_input_hook((x,))
    out = hook.setup_output_hook(inside * 3)
    with pytest.raises(RuntimeError, match=f"got {len(gradients)}, but expected 1"):
        out.sum().backward()


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
