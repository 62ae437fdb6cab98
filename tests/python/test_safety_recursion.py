"""Recursion from Python to C++ to Python without end, and lists nested too deeply, are errors that can be caught."""

import sys

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import Function
from wengert.autograd.graph import saved_tensors_hooks
from wengert.utils._python_dispatch import TorchDispatchMode


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


class Recursive(wg.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class NoTensor:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t + t,
        lambda t: 2.0 * t,
        lambda t: t @ t,
        lambda t: t.exp(),
        lambda t: wg.cat([t, t]),
        lambda t: t.shape,
        lambda t: t.dim(),
        lambda t: t[0],
        lambda t: t.as_subclass(wg.Tensor)[[0, t]],
        lambda t: t.__setitem__(0, 1.0),
        lambda t: list(t),
        lambda t: t.add_(1),
        lambda t: wg.add(NoTensor(), 1),
    ],
)
def test_overrides_that_call_themselves(use):
    t = wg.tensor([1.0, 2.0]).as_subclass(Recursive)
    with pytest.raises(RecursionError):
        use(t)


def test_two_overriding_types_that_call_each_other():
    class First(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(second, second)

    class Second(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(first, first)

    first, second = wg.ones(1).as_subclass(First), wg.ones(1).as_subclass(Second)
    with pytest.raises(RecursionError):
        first + second


def test_tensor_hooks_that_start_their_own_pass(x):
    y = x * 2
    y.register_hook(lambda grad: y.backward(wg.ones(2), retain_graph=True))
    with pytest.raises(RecursionError, match="nested backward passes"):
        y.backward(wg.ones(2), retain_graph=True)


def test_unpack_hooks_that_start_their_own_pass(x):
    def unpack(t):
        y.backward(wg.ones(2))
        return t

    with saved_tensors_hooks(lambda t: t, unpack):
        y = x * x
    with pytest.raises(RecursionError):
        y.backward(wg.ones(2))


def test_unpack_hooks_that_unpack(x):
    with saved_tensors_hooks(lambda t: t, lambda t: y.grad_fn._saved_self):
        y = x * x
    with pytest.raises(RecursionError):
        y.backward(wg.ones(2))


def test_pack_hooks_that_save(x):
    def pack(t):
        with wg.enable_grad():
            return x * x

    with saved_tensors_hooks(pack, lambda t: t), pytest.raises(RecursionError):
        x * x


def test_custom_functions_that_call_themselves(x):
    class Forward(Function):
        @staticmethod
        def forward(ctx, x):
            return Forward.apply(x)

    class Backward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            with wg.enable_grad():
                return wg.autograd.grad(Backward.apply(x).sum(), x)

    with pytest.raises(RecursionError):
        Forward.apply(x)
    with pytest.raises(RecursionError):
        Backward.apply(x).sum().backward()


def test_dispatch_modes_that_enter_themselves(x):
    class Again(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with self:
                return func(*args)

    with pytest.raises(RecursionError), Again():
        x + 1
    assert (x + 1).tolist() == [2, 3]


class ArrayOfItself:
    def __array__(self, *args, **kwargs):
        return np.asarray(wg.tensor(self))


class IndexOfItself:
    def __index__(self):
        return wg.arange(3)[self].item()


class SequenceOfItself:
    def __len__(self):
        return 1

    def __getitem__(self, i):
        return wg.tensor(SequenceOfItself())


@pytest.mark.parametrize(
    "convert",
    [
        lambda: wg.tensor(ArrayOfItself()),
        lambda: wg.tensor([ArrayOfItself()]),
        lambda: wg.tensor(SequenceOfItself()),
        lambda: wg.arange(3)[IndexOfItself()],
        lambda: wg.arange(3)[IndexOfItself() :],
    ],
)
def test_conversions_that_convert_themselves(convert):
    with pytest.raises(RecursionError):
        convert()


def nested(depth):
    out = 1.0
    for _ in range(depth):
        out = [out]
    return out


@pytest.mark.parametrize("read", [wg.tensor, wg.as_tensor, wg.zeros(3).new_tensor, wg.zeros(3).__getitem__])
def test_lists_nested_too_deeply(read):
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        read(nested(100_000))
    itself = []
    itself.append(itself)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        read(itself)
    assert wg.tensor(nested(64)).dim() == 64


def test_lists_nested_too_deeply_whatever_the_recursion_limit():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    try:
        with pytest.raises(ValueError, match="too many dimensions"):
            wg.tensor(nested(100_000))
    finally:
        sys.setrecursionlimit(limit)
