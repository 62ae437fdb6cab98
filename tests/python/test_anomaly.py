"""Anomaly mode: one test for each row N1-N7 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import warnings
import weakref

import pytest

import wengert as wg
from wengert.autograd import Function, detect_anomaly, grad, set_detect_anomaly


@pytest.fixture
def x():
    return wg.tensor([-1.0, 2.0], requires_grad=True)


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise KeyError("inside")


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
        with pytest.warns(UserWarning, match="Error detected in FailsBackward(.|\n)*test_N4"), pytest.raises(KeyError):
            y.backward()
    y = Fails.apply(x).sum()
    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="No forward pass information available"),
        pytest.raises(KeyError),
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
        with warnings.catch_warnings(record=True, action="always") as caught, pytest.raises(KeyError):
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
