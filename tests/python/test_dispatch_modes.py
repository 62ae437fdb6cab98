"""Dispatch modes, and the objects that stand for operations."""

import copy
import pickle

import pytest

import wengert as wg
from wengert.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

aten = wg.ops.aten


class Log(TorchDispatchMode):
    def __init__(self):
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls.append((str(func), args, kwargs))
        return func(*args, **(kwargs or {}))

    @property
    def names(self):
        return [name for name, _, _ in self.calls]


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_a_mode_sees_operations_and_their_arguments(x):
    with Log() as log:
        x * 2
        x.sum(0, keepdim=True)
        wg.add(x, x)
        wg.cat([x, x])
        x.detach().clone().add_(1)
    assert log.names == [
        "aten.mul.default",
        "aten.sum.default",
        "aten.add.default",
        "aten.cat.default",
        "aten.detach.default",
        "aten.clone.default",
        "aten.add_.default",
    ]
    assert log.calls[0][1][0] is x
    assert log.calls[0][1][1] == 2
    assert log.calls[1][1][1:] == ([0], True)
    assert [type(value) for value in log.calls[3][1][0]] == [wg.Tensor, wg.Tensor]


def test_results_get_the_history_of_the_kernel(x):
    with Log():
        y = x.exp() * x
    assert y.grad_fn.name() == "MulBackward0"
    (g,) = wg.autograd.grad(y.sum(), x)
    assert g.tolist() == wg.autograd.grad((x.exp() * x).sum(), x)[0].tolist()


def test_a_mode_replaces_results(x):
    class Zeros(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            assert not wg.is_grad_enabled()
            return wg.zeros(2)

    with Zeros():
        y = x.exp()
    assert y.tolist() == [0, 0]
    assert y.grad_fn.name() == "ExpBackward0"


def test_what_a_mode_returns_is_left_alone(x):
    constant = wg.ones(2)

    class Same(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return args[0] if func is aten.exp.default else constant

    with Same():
        y = x.exp()
    assert x.is_leaf
    assert y is not x
    assert y.grad_fn is not None


def test_modes_nest_and_are_not_active_inside_themselves(x):
    with Log() as outer, Log() as inner:
        assert _get_current_dispatch_mode() is inner
        x.exp()
    assert outer.names == inner.names == ["aten.exp.default"]
    assert _get_current_dispatch_mode() is None


def test_compositions_show_their_parts(x):
    with Log() as log:
        wg.nn.functional.l1_loss(x, wg.zeros(2))
    assert "aten.l1_loss.default" not in log.names
    assert "aten.sub.default" in log.names


def test_backward_is_seen(x):
    y = x.tanh().sum()
    with Log() as log:
        y.backward()
    assert "aten.cosh.default" in log.names  # as a recorded pass computes it: fused kernels are no operations


def test_views_inplace_out_and_several_results():
    base = wg.arange(6.0).view(2, 3)
    out = wg.zeros(3)
    with Log() as log:
        row = base[0]
        row.add_(10)
        values, indices = base.max(1)
        wg.exp(wg.ones(3), out=out)
        parts = wg.unbind(base)
    assert base[0].tolist() == [10, 11, 12]
    assert row._base is not None
    assert values.tolist() == [12, 5]
    assert indices.tolist() == [2, 2]
    assert out.tolist() == pytest.approx([2.7182817] * 3)
    assert len(parts) == 2
    assert "aten.exp.out" in log.names
    assert "aten.add_.default" in log.names
    assert "aten.max.dim" in log.names


def test_an_in_place_operation_counts_once():
    x = wg.ones(2)
    with Log():
        x.add_(1)
    assert x._version == 1


def test_errors_come_through_and_leave_no_mode_behind(x):
    class Fails(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("inside")

    with pytest.raises(KeyError), Fails():
        x.exp()
    assert x.exp().requires_grad

    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 3

    with pytest.raises(TypeError, match="must return what the operation returns"), Wrong():
        x.exp()
    with pytest.raises(RuntimeError, match="not active"):
        Log().__exit__()


def test_operations_as_objects():
    mm = aten.mm.default
    assert mm is aten.mm.default
    assert mm.overloadpacket is aten.mm
    assert (str(mm), repr(mm), mm.name()) == (
        "aten.mm.default",
        "<OpOverload(op='aten.mm', overload='default')>",
        "aten::mm",
    )
    assert aten.add.Tensor is aten.add.Scalar is aten.add.default
    assert aten.max.dim.name() == "aten::max.dim"
    assert "dim" in aten.max.overloads()
    assert pickle.loads(pickle.dumps(mm)) is mm
    assert copy.deepcopy(mm) is mm
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert mm(x, x).tolist() == (x @ x).tolist()
    assert aten.add_.default(x, 1) is x
    with pytest.raises(AttributeError, match="has no operation"):
        aten.nonesuch  # noqa: B018
    with pytest.raises(AttributeError, match="has no overload 'nonesuch'; it has"):
        aten.mm.nonesuch  # noqa: B018


def test_every_row_is_an_operation():
    names = [f"{packet}.{overload}" for packet in dir(aten) for overload in getattr(aten, packet).overloads()]
    assert len(names) > 400
    for name in names:
        packet, _, overload = name.partition(".")
        op = getattr(getattr(aten, packet), overload)
        assert str(op) == f"aten.{name}"
        from wengert._operations import _callable_of

        assert callable(_callable_of(op._row, op._variant)), name


# --- New tensors and random numbers
def test_a_mode_sees_new_tensors_with_the_options_that_were_given():
    generator = wg.Generator().manual_seed(1)
    with Log() as log:
        wg.zeros(2, 3)
        wg.ones((2,), dtype=wg.int64)
        wg.arange(1, 5)
        wg.rand(2, generator=generator)
        wg.zeros_like(wg.ones(2), requires_grad=True)
    assert log.calls == [
        ("aten.zeros.default", ([2, 3],), {}),
        ("aten.ones.default", ([2],), {"dtype": wg.int64}),
        ("aten.arange.start_step", (1, 5), {}),
        ("aten.rand.default", ([2],), {"generator": generator}),
        ("aten.ones.default", ([2],), {}),
        ("aten.zeros_like.default", log.calls[-1][1], {"requires_grad": True}),
    ]
    assert log.calls[3][2]["generator"] is generator


def test_what_a_mode_makes_is_the_new_tensor():
    class Ones(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return wg.ones(*args, **kwargs) if func is aten.rand.default else func(*args, **(kwargs or {}))

    with Ones():
        made = wg.rand(2, requires_grad=True)
    assert made.tolist() == [1, 1]
    assert made.requires_grad
    assert made.is_leaf


def test_a_mode_sees_random_writes(x):
    with Log() as log:
        y = x * 2
        y.uniform_(3, 4)
    assert log.names == ["aten.mul.default", "aten.uniform_.default"]
    assert y.grad_fn.name() == "UniformBackward0"
    assert ((y >= 3) & (y < 4)).all()


def test_operations_that_make_tensors_are_called_as_any_other():
    assert aten.zeros.default([2], dtype=wg.int8).dtype is wg.int8
    assert aten.randint.low(2, 3, [4]).tolist() == [2] * 4
    assert aten.size.int(wg.ones(2, 3), 1) == 3
    assert aten.zeros.out([2], out=wg.ones(2)).tolist() == [0, 0]
