"""The graph as Python sees it: one test for each row G1-G21 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import weakref

import pytest

import wengert as wg
from wengert.autograd import grad
from wengert.autograd.graph import GradientEdge, Node, get_gradient_edge


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


class Double(wg.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def test_G1_grad_fn(x):
    y = x * 2
    assert x.grad_fn is None
    assert y.grad_fn is y.grad_fn
    assert hash(y.grad_fn) == hash(y.grad_fn)
    z = y + 1
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    with pytest.raises(AttributeError):
        y.grad_fn = None


def test_G1_attributes_survive_the_wrapper(x):
    y = x * 2
    y.grad_fn.metadata["note"] = "kept"
    gc.collect()
    assert y.grad_fn.metadata["note"] == "kept"


def test_G1_view_of_a_changed_base(x):
    base = x * 2
    view = base[:1]
    before = view.grad_fn
    base.mul_(3)
    assert view.grad_fn is not before
    assert grad(view.sum(), x)[0].tolist() == [6.0, 0.0]


def test_G2_output_nr(x):
    first, second = (x * 2).unbind()
    assert (x.output_nr, first.output_nr, second.output_nr) == (0, 0, 1)


def test_G3_is_leaf(x):
    assert x.is_leaf
    assert not (x * 2).is_leaf
    assert (wg.ones(1) * 2).is_leaf
    with pytest.raises(AttributeError):
        x.is_leaf = False


def test_G4_name(x):
    assert (x * 2).grad_fn.name() == "MulBackward0"
    assert type((x * 2).grad_fn).__name__ == "MulBackward0"
    leaf_node = (x * 2).grad_fn.next_functions[0][0]
    assert leaf_node.name().endswith("::autograd::AccumulateGrad")
    assert type(leaf_node).__name__ == "AccumulateGrad"
    base = x * 2
    base[:1].mul_(2)
    assert base.grad_fn.name().endswith("::autograd::CopySlices")
    assert Double.apply(x).grad_fn.name() == "DoubleBackward"


def test_G5_next_functions(x):
    edges = (x * 2).grad_fn.next_functions
    assert isinstance(edges, tuple)
    assert len(edges) == 2
    node, number = edges[0]
    assert type(node).__name__ == "AccumulateGrad"
    assert number == 0
    assert edges[1] == (None, 0)


def test_G5_every_leaf_is_reached(x):
    w = wg.ones(2, requires_grad=True)
    found, waiting = set(), [((x * w).exp() + x).grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            found.add(id(node.variable))
        waiting += [child for child, _ in node.next_functions if child is not None]
    assert found == {id(x), id(w)}


def test_G6_metadata(x):
    y = x * 2
    y.grad_fn.metadata["key"] = 1
    assert y.grad_fn.metadata == {"key": 1}
    assert y.grad_fn.metadata is y.grad_fn.metadata


def test_G7_input_metadata(x):
    (metadata,) = (x * 2).grad_fn._input_metadata
    assert tuple(metadata.shape) == (2,)
    assert metadata.dtype == wg.float32
    assert str(metadata.device) == "cpu"
    assert metadata.is_nested_tensor is False
    assert metadata.is_cpp_nested_tensor is False
    assert len((x * 2).unbind()[0].grad_fn._input_metadata) == 2


def test_G8_sequence_nr(x):
    first, second = x * 2, x * 3
    assert second.grad_fn._sequence_nr() == first.grad_fn._sequence_nr() + 1
    assert first.grad_fn.next_functions[0][0]._sequence_nr() == 2**64 - 1
    first.grad_fn._set_sequence_nr(123456)
    assert first.grad_fn._sequence_nr() == 123456
    with pytest.raises(TypeError):
        first.grad_fn._set_sequence_nr("last")


def test_G9_requires_grad(x):
    assert (x * 2).grad_fn.requires_grad is True


def test_G10_accumulate_grad_variable(x):
    assert (x * 2).grad_fn.next_functions[0][0].variable is x


def test_G11_calling_a_node(x):
    node = (x * 2).grad_fn
    assert node(wg.ones(2))[0].tolist() == [2.0, 2.0]
    one = x.exp().grad_fn(wg.ones(2))
    assert isinstance(one, wg.Tensor)
    assert x.exp().grad_fn(None) is None
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        x.exp().grad_fn(wg.ones(2), wg.ones(2))
    with pytest.raises(TypeError):
        x.exp().grad_fn("one")


def test_G11_calling_accumulate_grad(x):
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node(wg.ones(2)) == ()
    assert x.grad.tolist() == [1.0, 1.0]


def test_G11_is_tracked_in_grad_mode(x):
    y = x.exp()
    gradient = wg.ones(2, requires_grad=True)
    assert y.grad_fn(gradient).requires_grad
    with wg.no_grad():
        assert not x.exp().requires_grad


def test_G12_node_is_a_virtual_base(x):
    nodes = [(x * 2).grad_fn, (x * 2).grad_fn.next_functions[0][0], Double.apply(x).grad_fn]
    for node in nodes:
        assert isinstance(node, Node)
        assert issubclass(type(node), Node)
        assert Node not in type(node).mro()
    assert not isinstance(x, Node)
    with pytest.raises(TypeError):
        Node()


def test_G13_functions_namespace(x):
    error = wg._C._functions.DelayedError("too late", 1)
    y = error(x * 2)
    with pytest.raises(RuntimeError, match="too late"):
        y.sum().backward()
    undefined = wg._C._functions.UndefinedGrad()
    (undefined(x * 2)).sum().backward()
    assert x.grad is None


def test_G14_gradient_edge_survives_in_place(x):
    y = x * 2
    edge = get_gradient_edge(y)
    assert isinstance(edge, GradientEdge)
    assert edge == (edge.node, edge.output_nr, edge.ownership_token)
    y.mul_(10)
    assert grad(y.sum(), edge, retain_graph=True)[0].tolist() == [10.0, 10.0]
    assert grad(edge, x, wg.ones(2))[0].tolist() == [2.0, 2.0]


def test_G15_get_gradient_edge(x):
    edge = get_gradient_edge(x)
    assert edge.node.variable is x
    assert edge.output_nr == 0
    assert get_gradient_edge((x * 2).unbind()[1]).output_nr == 1
    with pytest.raises(RuntimeError, match="does not require gradients"):
        get_gradient_edge(wg.ones(1))


def test_G15_edge_of_a_custom_function_owns_the_graph(x):
    edge = get_gradient_edge(Double.apply(x))
    gc.collect()
    assert grad(edge, x, wg.ones(2))[0].tolist() == [2.0, 2.0]


def test_G16_graph_task_id(x):
    seen = []
    x.register_hook(lambda gradient: seen.append(wg._C._current_graph_task_id()))
    for _ in range(2):
        x.sum().backward()
    assert wg._C._current_graph_task_id() == -1
    assert 0 <= seen[0] < seen[1]


def test_G17_execution_order(x):
    orders = []
    y = (x * 2).exp()
    node = y.grad_fn
    z = y.sum()
    z.register_hook(lambda gradient: orders.append(wg._C._current_graph_task_execution_order()))
    with wg.autograd.set_multithreading_enabled(False):
        z.backward()
    names = [node.name() for node in orders[0]]
    assert node in orders[0]
    assert names.index("ExpBackward0") < names.index("MulBackward0")
    with pytest.raises(RuntimeError):
        wg._C._current_graph_task_execution_order()
    failing = (x * 2).sum()
    failing.register_hook(lambda gradient: wg._C._current_graph_task_execution_order() and None)
    with pytest.raises(RuntimeError):  # only predictable on one thread
        failing.backward()


def test_G18_will_engine_execute_node(x):
    w = wg.ones(2, requires_grad=True)
    seen = []
    y, z = x.exp(), w.exp()
    nodes = (y.grad_fn, z.grad_fn)
    total = (y * z).sum()
    total.register_hook(lambda gradient: seen.append([wg._C._will_engine_execute_node(node) for node in nodes]))
    total.backward(inputs=[x])
    assert seen == [[True, False]]
    with pytest.raises(RuntimeError):
        wg._C._will_engine_execute_node(nodes[0])
    with pytest.raises(RuntimeError, match="expects an grad_fn"):
        wg._C._will_engine_execute_node(3)


def test_G19_current_node(x):
    seen = []

    class Spy(Double):
        @staticmethod
        def backward(ctx, gradient):
            seen.append(wg._C._current_autograd_node())
            return gradient

    y = Spy.apply(x)
    node = y.grad_fn
    y.sum().backward()
    assert seen[0] is node
    assert wg._C._current_autograd_node() is None


@pytest.mark.parametrize("retain", [False, True])
def test_G20_keep_graph(x, retain):
    seen = []
    x.register_hook(lambda gradient: seen.append(wg._C._autograd._get_current_graph_task_keep_graph()))
    x.sum().backward(retain_graph=retain)
    assert seen == [retain]


def test_G21_repr(x):
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 4.], grad_fn=<MulBackward0>)"
    base = x * 1
    with wg.no_grad():
        view = base[:1]
    base.mul_(2)
    assert "grad_fn=<Invalid>" in repr(view)
    fwd = wg.autograd.forward_ad
    with fwd.dual_level():
        assert "tangent=" in repr(fwd.make_dual(wg.ones(1), wg.ones(1)))


def test_nodes_do_not_outlive_their_tensors(x):
    y = x * 2
    node = weakref.ref(Double.apply(y).grad_fn)
    gc.collect()
    assert node() is None
