"""Saved-tensor hooks and versions from Python: rows S3, S5, S6, V17 and V18 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg
from wengert.autograd import _unsafe_preserve_version_counter
from wengert.autograd.graph import disable_saved_tensors_hooks, increment_version, save_on_cpu, saved_tensors_hooks


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_S3_innermost_hooks_apply(x):
    packed = []

    def pack_to(name):
        return lambda tensor: packed.append(name) or tensor

    with saved_tensors_hooks(pack_to("outer"), lambda tensor: tensor):
        with saved_tensors_hooks(pack_to("inner"), lambda tensor: tensor * 10):
            y = x.exp()
        x.exp()
    x.exp()
    assert packed == ["inner", "outer"]
    y.sum().backward()
    wg.testing.assert_close(x.grad, 10 * x.detach().exp())


def test_S3_errors(x):
    for hooks in ((1, lambda value: value), (lambda tensor: tensor, None)):
        with pytest.raises(TypeError), saved_tensors_hooks(*hooks):
            pass
    with saved_tensors_hooks(lambda tensor: tensor, lambda tensor: "text"):
        y = x.exp()
    with pytest.raises(TypeError):
        y.sum().backward()
    with (
        pytest.raises(RuntimeError, match=r"A saved tensor pack hook is modifying its input in place\."),
        saved_tensors_hooks(lambda tensor: tensor.mul_(2), lambda tensor: tensor),
        wg.no_grad(),
        wg.enable_grad(),
    ):
        (x * 1).exp().pow(2)


def test_S3_user_exceptions_pass_through(x):
    def fail(tensor):
        raise KeyError("pack")

    with pytest.raises(KeyError), saved_tensors_hooks(fail, fail):
        x.exp()
    assert x.exp().requires_grad


def test_S5_save_on_cpu(x):
    with save_on_cpu():
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    with save_on_cpu(pin_memory=True):
        y = (x * x).sum()
    y.backward()


def test_S6_disable(x):
    with disable_saved_tensors_hooks("outer message"):
        with disable_saved_tensors_hooks("inner message"), pytest.raises(RuntimeError, match="inner m"), save_on_cpu():
            pass
        with pytest.raises(RuntimeError, match="outer message"), save_on_cpu():
            pass
    with save_on_cpu():
        x.exp()
    with save_on_cpu(), pytest.raises(RuntimeError, match="too late"), disable_saved_tensors_hooks("too late"):
        pass
    with save_on_cpu():
        x.exp()


def test_V17_increment_version(x):
    increment_version(x)
    assert x._version == 1
    other = wg.ones(1)
    increment_version([x, other])
    increment_version(tensor for tensor in (x, other))
    assert (x._version, other._version) == (3, 2)
    with wg.inference_mode():
        inference = wg.ones(1)
    increment_version(inference)
    with pytest.raises(RuntimeError):
        increment_version(3)


def test_V18_preserve_version_counter(x):
    plain = wg.ones(2)
    with _unsafe_preserve_version_counter(plain):
        plain.mul_(2)
        assert plain._version == 1
    assert plain._version == 0
    with _unsafe_preserve_version_counter((plain, x)):
        plain.mul_(2)
    assert plain._version == 0
    with pytest.raises(AssertionError):
        _unsafe_preserve_version_counter([plain])
    with pytest.raises(RuntimeError, match="Cannot set"):
        wg._C._autograd._unsafe_set_version_counter((plain,), (-1,))
