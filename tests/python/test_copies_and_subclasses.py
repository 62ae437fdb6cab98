"""Complex numbers, copies and subclasses: rows X1, X2, X4 to X6 and X11 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import copy
import pickle
from typing import ClassVar

import pytest

import wengert as wg
from wengert.autograd import grad


# --- Complex numbers
@pytest.mark.parametrize(
    ("loss", "gradient"),
    [
        (lambda z: (z.abs() ** 2).sum(), lambda z: 2 * z),
        (lambda z: (z.real * 3 + z.imag * 5).sum(), lambda z: 3 + 5j + 0 * z),
        (lambda z: (z**2).real.sum(), lambda z: 2 * z.conj()),
        (lambda z: wg.view_as_real(z).sum(), lambda z: 1 + 1j + 0 * z),
        (lambda z: (z * z.conj()).real.sum(), lambda z: 2 * z),
    ],
)
def test_X1_gradients_of_real_losses(loss, gradient):
    z = wg.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    loss(z).backward()
    wg.testing.assert_close(z.grad, gradient(z.detach()))


def test_X1_holomorphic_and_mixed():
    z = wg.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (z * (2 + 3j)).sum().backward(wg.tensor(1 + 0j))
    assert z.grad.tolist() == [2 - 3j, 2 - 3j]
    r = wg.tensor([1.0, 2.0], requires_grad=True)
    (r * z.detach()).abs().sum().backward()
    wg.testing.assert_close(r.grad, z.detach().abs())
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs"):
        (z * 2).sum().backward()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "to_complex",
    [
        lambda r: r.to(wg.complex64),
        lambda r: wg.zeros(2, dtype=wg.complex64).copy_(r),
        lambda r: wg.cat([r, wg.ones(1, dtype=wg.complex64)])[:2],
        lambda r: wg.stack([r, wg.ones(2, dtype=wg.complex64)])[0],
    ],
)
def test_X2_gradients_are_projected_to_real(to_complex):
    r = wg.tensor([1.0, 2.0], requires_grad=True)
    (to_complex(r) * (2 + 5j)).real.sum().backward()
    assert r.grad.tolist() == [2.0, 2.0]
    assert r.grad.dtype is wg.float32


def test_X3_conjugation_is_carried_out():
    z = wg.tensor([1 + 2j, -3j], requires_grad=True)
    c = z.conj()
    assert c.tolist() == [1 - 2j, 3j]
    assert (c.is_conj(), c.is_neg(), c.imag.is_neg()) == (False, False, False)
    assert c.resolve_conj() is c
    assert c.imag.resolve_neg().tolist() == [-2, 3]
    assert grad((c * wg.tensor([2j, 1.0])).real.sum(), z)[0].tolist() == [2j, 1]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes") as raised:
        _ = wg.ones(2).imag
    assert isinstance(raised.value, AttributeError)  # unlike PyTorch's, so that one may ask
    assert not hasattr(wg.ones(2), "imag")
    assert hasattr(z, "imag")


# --- Copies
@pytest.mark.parametrize("protocol", range(3))
@pytest.mark.parametrize(
    "make",
    [
        lambda: wg.arange(6.0).reshape(2, 3).t(),
        lambda: wg.arange(24.0).reshape(2, 3, 4)[1, :, 1:3],
        lambda: wg.arange(6.0)[::2],
        lambda: wg.ones(1).expand(3),
        lambda: wg.tensor(3.0),
        lambda: wg.zeros(0, 3),
        lambda: wg.tensor([True, False]),
    ],
)
def test_X4_X5_copies_keep_values_and_strides(make, protocol):
    original = make()
    for duplicate in (pickle.loads(pickle.dumps(original, protocol)), copy.deepcopy(original)):
        assert duplicate.stride() == original.stride()
        assert duplicate.dtype is original.dtype
        assert duplicate.tolist() == original.tolist()
        assert not duplicate._is_view()


def test_X4_what_pickle_keeps():
    x = wg.ones(2, requires_grad=True)
    x.grad, x.tag = wg.ones(2), "kept"
    handle = x.register_hook(lambda grad: grad)
    with pytest.warns(UserWarning, match="backward hook .* will not be serialized"):
        y = pickle.loads(pickle.dumps(x))
    handle.remove()
    assert (y.grad, y.tag, y.requires_grad) == (None, "kept", True)
    assert not y._backward_hooks
    z = pickle.loads(pickle.dumps(x * 2))
    assert (z.is_leaf, z.requires_grad) == (True, True)
    assert type(pickle.loads(pickle.dumps(wg.nn.Parameter(x.detach())))) is wg.nn.Parameter
    z.detach().resize_(100)


def test_X5_what_deepcopy_keeps():
    x = wg.ones(2, requires_grad=True)
    x.grad, x.tag = wg.full((2,), 3.0), ["kept"]
    y = copy.deepcopy(x)
    assert (y.grad.tolist(), y.tag, y.requires_grad) == ([3.0, 3.0], ["kept"], True)
    assert y.tag is not x.tag
    first, second = copy.deepcopy([x, x])
    assert first is second
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


# --- Subclasses
class Logged(wg.Tensor):
    log: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.log.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})


@pytest.fixture
def logged():
    x = wg.ones(2, requires_grad=True).as_subclass(Logged)
    Logged.log.clear()
    return x


@pytest.mark.parametrize(
    ("action", "names"),
    [
        (lambda x: x * 2, ["mul"]),
        (lambda x: 2 * x, ["mul"]),
        (lambda x: 1 - x, ["__rsub__"]),
        (lambda x: -x, ["neg"]),
        (lambda x: x == x, ["__eq__"]),
        (lambda x: x < 1, ["lt"]),
        (lambda x: x @ x, ["matmul"]),
        (lambda x: x[0], ["__getitem__"]),
        (lambda x: wg.stack([x, x]), ["stack"]),
        (lambda x: x.register_hook(lambda grad: grad), ["register_hook"]),
        (lambda x: x.sum().backward(), ["sum", "backward"]),
        (lambda x: wg.autograd.backward(x.sum()), ["sum", "backward"]),
        (lambda x: wg.autograd.grad(x.sum(), x), ["sum", "grad"]),
        (lambda x: x.detach().__iadd__(2), ["detach", "add_"]),
        (lambda x: x.requires_grad, ["__get__"]),
    ],
)
def test_X6_everything_can_be_overridden(logged, action, names):
    action(logged)
    assert Logged.log == names


def test_X6_gradients_of_subclass_leaves_are_plain():
    leaf = wg.Tensor._make_subclass(Logged, wg.ones(2), True)
    leaf.sum().backward()
    assert type(leaf.grad) is wg.Tensor
    assert type(leaf * 2) is Logged
    with wg._C.DisableTorchFunctionSubclass():
        assert type(leaf * 2) is wg.Tensor


def test_X6_methods_may_answer_themselves():
    class Mute(wg.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if function in (wg.Tensor.backward, wg.autograd.grad, wg.Tensor.register_hook):
                return "no"
            return super().__torch_function__(function, types, args, kwargs)

    x = wg.ones(2, requires_grad=True).as_subclass(Mute)
    assert (x.backward(), x.register_hook(print), wg.autograd.grad(x.sum(), [x])) == ("no", "no", "no")


@pytest.mark.filterwarnings("ignore")
def test_X11_attributes_are_readable():
    t = wg.ones(2, 2, requires_grad=True)
    assert all(hasattr(t, name) for name in dir(t) if name != "imag")
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        _ = t.imag
