"""Leaves, requires_grad, detach and data: one test for each row L1-L21 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import Variable, grad


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_L1_requires_grad_at_construction(dtype):
    assert wg.zeros(1, dtype=getattr(wg, dtype), requires_grad=True).requires_grad


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_L1_integers_cannot_require_grad(dtype):
    message = "Only Tensors of floating point and complex dtype can require gradients"
    with pytest.raises(RuntimeError, match=message):
        wg.zeros(1, dtype=getattr(wg, dtype), requires_grad=True)


def test_L2_requires_grad_setter(x):
    x.requires_grad = False
    assert not x.requires_grad
    integers = wg.ones(1, dtype=wg.int64)
    integers.requires_grad = False
    x.requires_grad = True
    for value in (True, False):
        with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
            (x * 2).requires_grad = value
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = "yes"
    with pytest.raises(RuntimeError):
        del x.requires_grad


def test_L3_requires_grad_(x):
    plain = wg.ones(1)
    assert plain.requires_grad_() is plain
    assert plain.requires_grad
    y = x * 2
    assert y.requires_grad_(True) is y
    with pytest.raises(RuntimeError, match="detach"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"only Tensors of floating point dtype|floating point and complex dtype"):
        wg.ones(1, dtype=wg.int64).requires_grad_()


def test_L4_propagation(x):
    assert (x * 2).requires_grad
    assert not (wg.ones(2) * 2).requires_grad
    assert not x.argmax().requires_grad
    assert not (x > 1).requires_grad
    with wg.no_grad():
        assert not (x * 2).requires_grad


def test_L5_every_argument_has_a_derivative(x):
    # PyTorch refuses pos_weight; here it is differentiable like any other argument.
    weight = wg.ones(2, requires_grad=True)
    wg.nn.functional.binary_cross_entropy_with_logits(x, wg.ones(2), pos_weight=weight).backward()
    assert weight.grad is not None


def test_L7_grad_of_a_non_leaf_warns_once(x):
    y = x * 2
    with pytest.warns(UserWarning, match="grad"):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None
        assert x.grad is None


def test_L8_setting_grad(x):
    x.grad = wg.ones(2)
    assert x.grad.tolist() == [1.0, 1.0]
    assert x.grad is x.grad
    del x.grad
    assert x.grad is None
    x.grad = None
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        x.grad = 1.0
    for wrong in (wg.ones(3), wg.ones(2, dtype=wg.float64), x):
        with pytest.raises(RuntimeError):
            x.grad = wrong


def test_L9_grad_dtype(x):
    x.grad_dtype = wg.float64
    (x * 2).sum().backward()
    assert x.grad.dtype == wg.float64
    with pytest.raises(RuntimeError):
        (x * 2).grad_dtype = wg.float64


def test_L10_detach(x):
    y = x * 2
    alias = y.detach()
    assert alias.is_leaf
    assert not alias.requires_grad
    assert not alias._is_view()
    assert alias._base is None
    alias.add_(1)
    assert y._version == alias._version == 1
    assert y.tolist() == alias.tolist()


def test_L11_detach_in_place(x):
    y = x * 2
    z = y.exp()
    y.detach_()
    assert y.is_leaf
    assert y.grad_fn is None
    assert not y.requires_grad
    assert grad(z.sum(), x)[0].shape == (2,)
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (x * 2)[:1].detach_()


def test_L12_data_get(x):
    version = x._version
    data = x.data
    assert not data.requires_grad
    data[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    assert x._version == version


def test_L13_data_set(x):
    identity, version = id(x), x._version
    x.data = wg.tensor([7.0, 8.0, 9.0])
    assert id(x) == identity
    assert x.requires_grad
    assert x._version == version
    assert x.tolist() == [7.0, 8.0, 9.0]
    with pytest.raises(TypeError):
        x.data = [1.0]
    with pytest.raises(RuntimeError):
        x.data = wg.ones(2, dtype=wg.int64)
    with pytest.raises(RuntimeError):
        del x.data


def test_L14_set_(x):
    with pytest.raises(RuntimeError):
        x.set_(wg.ones(2))
    with wg.no_grad():
        x.set_(wg.ones(2))
    assert x.tolist() == [1.0, 1.0]


def test_L15_numpy(x):
    for convert in (lambda t: t.numpy(), np.asarray):
        with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
            convert(x)
    assert x.detach().numpy().tolist() == [1.0, 2.0]
    assert np.asarray(x.detach()).tolist() == [1.0, 2.0]


def test_L16_python_numbers(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert float(x[1]) == 2.0
        assert int(x[1]) == 2
    assert x[1].item() == 2.0
    assert x.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"NaN|nan"):
        int(wg.tensor(float("nan")))
    with pytest.raises(OverflowError):
        int(wg.tensor(float("inf")))


def test_L17_resize_(x):
    plain = wg.ones(2)
    version = plain._version
    plain.resize_(2)
    assert plain._version == version
    plain.resize_(3)
    assert plain._version == version + 1
    assert plain.shape == (3,)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        x.resize_(3)


def test_L18_underscored_attributes(x):
    base = x * 2
    view = base[:1][:1]
    assert view._is_view()
    assert view._base is base
    assert base._base is None
    assert base._grad_fn is base.grad_fn
    assert x._backward_hooks is None
    for name in ("_backward_hooks", "_grad_fn"):
        with pytest.raises(RuntimeError):
            delattr(base, name)
    with pytest.warns(UserWarning, match="volatile"):
        assert x.volatile is False


def test_L19_variable():
    plain = wg.ones(1)
    x = Variable(plain, requires_grad=True)
    assert isinstance(x, wg.Tensor)
    assert isinstance(x, Variable)
    assert isinstance(plain, Variable)
    assert x.requires_grad
    assert not plain.requires_grad
    assert x.is_leaf
    assert Variable(plain).requires_grad is False
    engine = Variable._execution_engine
    assert all(hasattr(engine, name) for name in ("run_backward", "queue_callback", "is_checkpoint_valid"))
    with pytest.warns(UserWarning, match="volatile was removed"):
        Variable(plain, volatile=True)
    with pytest.raises(RuntimeError, match="deprecated"):
        wg.autograd.variable(plain)


def test_L19_historic_example():
    from wengert.autograd.variable import Variable

    a, b = Variable(wg.randn(2, 1), requires_grad=True), Variable(wg.randn(2, 1), requires_grad=True)
    c = a.add(b)
    gradient = wg.randn(2, 1)
    c.backward(gradient)
    assert a.grad.tolist() == b.grad.tolist() == gradient.tolist()


def test_L20_parameter():
    with wg.no_grad():
        weight = wg.nn.Parameter(wg.ones(1))
    assert weight.requires_grad
    assert weight.is_leaf
    assert repr(weight).startswith("Parameter containing:")
    with pytest.raises(RuntimeError):
        wg.nn.Parameter(wg.ones(1, dtype=wg.int64))


def test_L21_in_place_makes_a_leaf_differentiable(x):
    total = wg.zeros(2)
    total += x
    assert total.requires_grad
    assert not total.is_leaf
    assert grad(total.sum(), x)[0].tolist() == [1.0, 1.0]
