"""What Python code can ask of the engine: nodes called by hand, edges to outputs that do not exist, observers and modes
that are stopped while they are needed.
"""

import gc
import threading

import pytest

import wengert as wg
from wengert import _C
from wengert.autograd import Function
from wengert.autograd.graph import GradientEdge
from wengert.utils._python_dispatch import TorchDispatchMode


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


# --- Nodes called by hand
def test_a_node_called_by_hand_in_a_selective_pass_gives_all_gradients(x):
    other = wg.tensor([3.0, 4.0], requires_grad=True)
    inner = x * other
    seen = []

    def hook(grad):
        seen.append(inner.grad_fn(wg.ones(2)))

    y = x * 5
    y.register_hook(hook)
    (gradient,) = wg.autograd.grad(y.sum(), x)
    assert gradient.tolist() == [5, 5]
    assert [g.tolist() for g in seen[0]] == [[3, 4], [1, 2]]


def test_a_pass_inside_a_node_called_by_hand_is_selective_again(x):
    other = wg.tensor([3.0, 4.0], requires_grad=True)
    found = []

    class Nested(Function):
        @staticmethod
        def forward(ctx, t):
            return t * 2

        @staticmethod
        def backward(ctx, grad):
            with wg.enable_grad():
                product = x * other
            found.append(wg.autograd.grad(product.sum(), other))
            return grad

    Nested.apply(x).grad_fn(wg.ones(2))
    assert found[0][0].tolist() == [1, 2]
    assert x.grad is None
    assert other.grad is None


# --- Arguments
@pytest.mark.parametrize("number", [-1, 1, 10**9, 2**40, 2**70])
def test_gradient_edges_to_outputs_that_do_not_exist(x, number):
    y = x.sum()
    edge = GradientEdge(y.grad_fn, number)
    for use in (
        lambda: wg.autograd.backward(edge, wg.tensor(1.0)),
        lambda: wg.autograd.grad(edge, x, wg.tensor(1.0)),
        lambda: wg.autograd.grad(y, edge),
        lambda: y.backward(inputs=[edge]),
    ):
        with pytest.raises(RuntimeError, match="SumBackward0 has 1 outputs"):
            use()


def test_the_engine_wants_a_gradient_for_each_root(x):
    with pytest.raises(RuntimeError, match="1 tensors and 0 gradients"):
        _C._execution_engine.run_backward((x.sum(),), (), False, False, (), True, True)


def test_names_that_are_no_text(x):
    def hook(grad):
        return wg.zeros(5)

    hook.__name__ = "\ud800"
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        y.sum().backward()
    with pytest.raises(UnicodeEncodeError), wg.autograd.graph.disable_saved_tensors_hooks("\ud800"):
        pass


# --- Observers and modes that are stopped while they are needed
def test_a_log_of_nodes_that_is_dropped_or_stopped_from_inside(x):
    seen = []

    def dropped():
        _C._node_log_start(lambda node, grads: seen.append(node.name()))
        gc.collect()
        x.sum().backward()

    thread = threading.Thread(target=dropped)  # nobody can stop the log any more: it lasts as long as the thread
    thread.start()
    thread.join()
    assert "SumBackward0" in seen

    token = None

    def stop(node, grads):
        nonlocal token
        _C._node_log_stop(token)
        token = None

    token = _C._node_log_start(stop)
    x.sum().backward()
    assert token is None


def test_a_dispatch_mode_that_leaves_the_one_outside(x):
    class Outer(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args)

    class Inner(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with pytest.raises(RuntimeError, match="an operation in progress needs"):
                outer.__exit__(None, None, None)
            return func(*args)

    with Outer() as outer:
        with Inner():
            x + 1
            x + 1
        x + 1
    assert (x + 1).tolist() == [2, 3]
