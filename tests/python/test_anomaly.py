"""Anomaly mode: one test for each row N1-N7 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import warnings
import weakref

import pytest

import wengert as wg
from tests.functions import Fails, OopsError
from wengert.autograd import Function, detect_anomaly, grad, set_detect_anomaly


@pytest.fixture
def x():
    return wg.tensor([-1.0, 2.0], requires_grad=True)


def test_N1_detect_anomaly():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = detect_anomaly(check_nan=False)
    assert not wg.is_anomaly_enabled()
    with mode:
        assert wg.is_anomaly_enabled()
        assert not wg.is_anomaly_check_nan_enabled()
    assert not wg.is_anomaly_enabled()


def test_N2_set_detect_anomaly():
    set_detect_anomaly(True, check_nan=False)
    assert wg.is_anomaly_enabled()
    assert not wg.is_anomaly_check_nan_enabled()
    with set_detect_anomaly(False):
        assert not wg.is_anomaly_enabled()
    assert wg.is_anomaly_enabled()
    assert not wg.is_anomaly_check_nan_enabled()
    set_detect_anomaly(False)
    assert not wg.is_anomaly_enabled()


def test_N3_queries():
    wg.set_anomaly_enabled(True, False)
    assert (wg.is_anomaly_enabled(), wg.is_anomaly_check_nan_enabled()) == (True, False)
    wg.set_anomaly_enabled(False)
    assert not wg.is_anomaly_enabled()


def test_N4_forward_traceback(x):
    with set_detect_anomaly(True):
        y = Fails.apply(x).sum()
        with pytest.warns(UserWarning, match="Error detected in FailsBackward(.|\n)*test_N4"), pytest.raises(OopsError):
            y.backward()
    y = Fails.apply(x).sum()
    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="No forward pass information available"),
        pytest.raises(OopsError),
    ):
        y.backward()


@pytest.mark.filterwarnings("ignore:Error detected")
def test_N5_nan(x):
    with set_detect_anomaly(True):
        y = wg.sqrt(x).sum()
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            y.backward()
    with set_detect_anomaly(True, check_nan=False):
        wg.sqrt(x).sum().backward()


def test_N6_nested_parents(x):
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return Fails.apply(gradient)

    with set_detect_anomaly(True):
        cotangent = wg.ones(2, requires_grad=True)
        (first,) = grad(Double.apply(x), x, cotangent, create_graph=True)
        with warnings.catch_warnings(record=True, action="always") as caught, pytest.raises(OopsError):
            first.sum().backward()
    messages = [str(warning.message) for warning in caught]
    assert any("Error detected in FailsBackward" in message for message in messages)
    assert any("Previous calculation was induced by DoubleBackward" in message for message in messages)


def test_N7_metadata_does_not_leak(x):
    with set_detect_anomaly(True):
        y = Fails.apply(x.exp())
        reference = weakref.ref(y.grad_fn)
        assert "traceback_" in y.grad_fn.metadata
        del y
        gc.collect()
        assert reference() is None


# --- Better than a bare NaN check
@pytest.mark.filterwarnings("ignore:Error detected")
def test_N5_names_the_operation_where_nan_began(x):
    with set_detect_anomaly(True):
        bad = wg.log(x - 1)  # nan at the first element; this is the line to name
        y = (bad * x).exp().sum()
        with pytest.raises(RuntimeError, match="returned nan values in its 0th output") as caught:
            y.backward()
    line = test_N5_names_the_operation_where_nan_began.__code__.co_firstlineno + 3
    assert f"that of LogBackward0 made at {__file__}:{line} in test_N5" in str(caught.value)


@pytest.mark.filterwarnings("ignore:Error detected")
def test_N5_names_a_leaf_that_contains_nan():
    x = wg.tensor([float("nan"), 1.0], requires_grad=True)
    with (
        set_detect_anomaly(True),
        pytest.raises(RuntimeError, match=r"a leaf of shape \(2,\) contains nan"),
    ):
        (x * x).sum().backward()


@pytest.mark.filterwarnings("ignore:Error detected")
def test_N5_nan_of_the_backward_pass_alone_blames_no_forward_operation():
    x = wg.tensor([0.0], requires_grad=True)
    with set_detect_anomaly(True):
        y = Infinite.apply(x)
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
    assert str(caught.value) == "Function 'InfiniteBackward' returned nan values in its 0th output."


class Infinite(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * float("nan")


def test_N5_nan_loss_does_not_pass_silently(x):
    with set_detect_anomaly(True):
        loss = x.sum() + wg.log(x.detach())[0]
        with pytest.warns(UserWarning, match="is nan, though its gradients are not(.|\n)*AddBackward0 made at .*py:"):
            loss.backward()
    assert x.grad.tolist() == [1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x.sum() + wg.log(x.detach())[0]).backward()


@pytest.mark.filterwarnings("ignore:Error detected")
def test_N6_double_backward_shows_the_forward_line(x):
    with set_detect_anomaly(True):
        (first,) = grad(Doubled.apply(x).sum(), x, create_graph=True)
        with warnings.catch_warnings(record=True, action="always") as caught, pytest.raises(OopsError):
            first.sum().backward()
    text = "\n".join(str(warning.message) for warning in caught)
    assert "Previous calculation was induced by DoubledBackward" in text
    assert "grad(Doubled.apply(x).sum(), x, create_graph=True)" in text


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return Fails.apply(gradient * 2 * x)


def test_N7_parents_do_not_leak(x):
    with set_detect_anomaly(True):
        y = Doubled.apply(x)
        reference = weakref.ref(y.grad_fn)
        (g,) = grad(y.sum(), x, create_graph=True)
        del y
        assert "parent_" in g.grad_fn.metadata
        del g
        gc.collect()
        assert reference() is None


def test_N4_a_node_made_outside_has_no_traceback(x):
    y = x.exp()
    assert "traceback_" not in y.grad_fn.metadata
    with set_detect_anomaly(True):
        z = x.exp()
    assert any("test_anomaly.py" in line for line in z.grad_fn.metadata["traceback_"])


# --- Hooks are watched as bodies are


def made_nan(gradient):
    return gradient * float("nan")


HOOKS = {
    "tensor hook": lambda y: y.register_hook(made_nan),
    "pre-hook": lambda y: y.grad_fn.register_prehook(lambda gs: tuple(map(made_nan, gs))),
    "post-hook": lambda y: y.grad_fn.register_hook(lambda outputs, gs: tuple(map(made_nan, outputs))),
}


@pytest.mark.parametrize("kind", HOOKS)
def test_N5_nan_made_by_a_hook(kind, x):
    with set_detect_anomaly(True):
        y = x.exp()
        HOOKS[kind](y)
        with (
            pytest.warns(UserWarning, match="Error detected in ExpBackward0(.|\n)*test_N5_nan_made_by_a_hook"),
            pytest.raises(RuntimeError, match=rf"A {kind} of 'ExpBackward0' returned nan values in its 0th gradient"),
        ):
            (y * 2).sum().backward()


def fails(*arguments):
    raise OopsError


FAILING = {
    "tensor hook": lambda y: y.register_hook(fails),
    "pre-hook": lambda y: y.grad_fn.register_prehook(fails),
    "post-hook": lambda y: y.grad_fn.register_hook(fails),
}


@pytest.mark.parametrize("kind", FAILING)
def test_N4_an_exception_in_a_hook(kind, x):
    with set_detect_anomaly(True):
        y = x.exp()
        FAILING[kind](y)
        with (
            pytest.warns(UserWarning, match="Error detected in ExpBackward0(.|\n)*test_N4_an_exc"),
            pytest.raises(OopsError),
        ):
            (y * 2).sum().backward()


def test_N4_an_exception_in_a_hook_of_a_tensor_that_is_only_asked_for(x):
    with set_detect_anomaly(True):
        y = x.exp()
        y.register_hook(fails)
        with (
            pytest.warns(UserWarning, match="Error detected in ExpBackward0(.|\n)*test_N4_an_exc"),
            pytest.raises(OopsError),
        ):
            grad((y * 2).sum(), y)


def test_N6_the_sum_of_a_fan_in_knows_its_parent(x):
    with set_detect_anomaly(True):
        y = x.exp()
        (g,) = grad((y * y.sin()).sum(), x, create_graph=True)
        nodes, waiting = set(), [g.grad_fn]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in nodes:
                nodes.add(node)
                waiting += [n for n, _ in node.next_functions]
        sums = [n for n in nodes if n.name() == "AddBackward0"]
        assert sums
        assert any(n.metadata.get("parent_") is y.grad_fn for n in sums)


@pytest.mark.filterwarnings("ignore:Error detected")
def test_N5_infinities_that_cancel_in_a_sum():
    x = wg.ones(1, requires_grad=True)
    with set_detect_anomaly(True):
        y = x * 1
        with pytest.raises(RuntimeError, match=r"The sum of the gradients that reach 'MulBackward0.*is nan"):
            (y * float("inf") - y * float("inf") * 2).sum().backward()
