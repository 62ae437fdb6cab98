"""What Python code can do without bringing the process down: recursion, arguments that change, wrong kinds."""

import contextlib
import gc
import sys
import threading
from typing import ClassVar

import numpy as np
import pytest

import wengert as wg
from wengert import _C
from wengert.autograd import Function
from wengert.autograd.graph import GradientEdge, saved_tensors_hooks
from wengert.utils._python_dispatch import TorchDispatchMode


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


class Answering(wg.Tensor):
    """Overrides everything with a fixed answer; remembers what it was asked."""

    asked: ClassVar[list] = []
    answer = 7

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.asked.append(func.__name__)
        return cls.answer


# --- Recursion: Python -> C++ -> Python without end


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


# --- Overriding types inside an index


class Index:
    """No tensor, but asked like one."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, [t.__name__ for t in types], [type(a).__name__ for a in args]


@pytest.mark.parametrize("make", [lambda i: (0, i), lambda i: [i, i], lambda i: (0, [i]), lambda i: (0, [[1], (i,)])])
def test_any_part_of_an_index_overrides(make):
    t = wg.arange(6.0).reshape(2, 3)
    index = make(Index())
    assert t[index] == ("__getitem__", ["Index"], ["Tensor", type(index).__name__])
    Answering.asked.clear()
    index = make(wg.tensor(1).as_subclass(Answering))
    assert t[index] == 7
    t[index] = 5.0
    assert Answering.asked == ["__getitem__", "__setitem__"]
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_an_index_may_contain_itself():
    index = [0]
    index.append(index)
    with pytest.raises(ValueError, match=r"too many dimensions|sequence"):
        wg.arange(3)[index]
    index.append(Index())
    assert wg.arange(3)[index][0] == "__getitem__"


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


# --- Arguments that change while they are read


def clearing(values, at_call):
    class Clears:
        calls = 0

        def __array__(self, *args, **kwargs):
            Clears.calls += 1
            if Clears.calls == at_call:
                values.clear()
                gc.collect()
            return np.ones(3)

    return Clears()


@pytest.mark.parametrize("at_call", [1, 2, 3])
@pytest.mark.parametrize("place", [0, 1, 500])
@pytest.mark.parametrize("dtype", [None, wg.float64])
def test_a_list_that_is_cleared_while_it_is_read(at_call, place, dtype):
    values = [[1.0] * 3] * 500
    values.insert(place, clearing(values, at_call))
    calls = 2 - (place > 0) + (dtype is None)  # for the shape if it comes first, for the dtype, for the values
    if at_call < calls or (at_call == calls and place < 500):
        with pytest.raises(ValueError, match=r"became shorter|expected sequence of length"):
            wg.tensor(values, dtype=dtype)
    else:
        assert wg.tensor(values, dtype=dtype).shape == (501, 3)


@pytest.mark.parametrize(
    "use",
    [
        lambda t, i: t[i],
        lambda t, i: t[0, i, 0],
        lambda t, i: t[0, 0, i],
        lambda t, i: t[i:, 0, 0],
        lambda t, i: t[0, i:2, 1],
        lambda t, i: t[[0], i],
        lambda t, i: t[..., i, 0],
        lambda t, i: t.__setitem__((0, i, 1), 3.0),
    ],
)
def test_index_methods_that_change_the_tensor(use):
    class Resizes:
        def __index__(self):
            t.resize_(2)
            return 0

    t = wg.zeros(3, 4, 5)
    with contextlib.suppress(IndexError):
        use(t, Resizes())


def test_a_metaclass_that_changes_a_list_of_tensors():
    class Meta(type):
        @property
        def __torch_function__(cls):
            tensors[:] = [1, 2]
            raise AttributeError

    class Value(metaclass=Meta):
        pass

    tensors = [wg.tensor([0]), wg.tensor([1])]
    with pytest.raises(TypeError):
        wg.zeros(2, 2).index_put(tensors, Value())
    tensors = [wg.ones(1), Value()]
    with pytest.raises(TypeError):
        wg.cat(tensors)


# --- Wrong kinds


def test_membership_where_equality_is_overridden():
    t = wg.tensor([1.0])
    assert t.as_subclass(Answering) in t
    Answering.answer = 0
    try:
        assert t.as_subclass(Answering) not in t
    finally:
        Answering.answer = 7


@pytest.mark.parametrize("value", [None, "a", [1.0, 2.0], object()])
def test_what_is_no_tensor_does_not_become_a_real_or_imaginary_part(value):
    t = wg.zeros(2, dtype=wg.complex64)
    for name in ("real", "imag"):
        with pytest.raises(TypeError, match=f"{name} has to be a tensor or a number"):
            setattr(t, name, value)
    with pytest.raises(RuntimeError, match="non-complex"):
        wg.zeros(2).imag = wg.zeros(2)
    t.real, t.imag = 2, wg.tensor([1.0, 3.0])
    assert t.tolist() == [2 + 1j, 2 + 3j]


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


# --- Sizes that no memory has


@pytest.mark.parametrize(
    "make",
    [
        lambda: wg.ones(1).expand(2**62) + 1,
        lambda: wg.cat([wg.zeros(1).expand(2**62)] * 4),
        lambda: wg.zeros(4).repeat(2**62),
        lambda: wg.zeros(4).tile(2**62),
        lambda: wg.zeros(4).repeat_interleave(2**62),
        lambda: wg.zeros(4).repeat_interleave(wg.tensor([2**62] * 4)),
        lambda: wg.zeros(1).resize_(2**62),
        lambda: wg.zeros(10).as_strided((3,), (2**62,)),
        lambda: wg.zeros(10).as_strided((5,), (2**61 + 1,)),
        lambda: wg.zeros(10).as_strided((2,), (1,), 2**63 - 1),
        lambda: wg.empty_strided((3, 3), (2**62, 2**62)),
        lambda: wg.nn.functional.pad(wg.zeros(3), (2**62, 2**62)),
    ],
)
def test_sizes_that_overflow(make):
    with pytest.raises(RuntimeError):
        make()


def test_steps_and_offsets_that_overflow():
    t = wg.arange(12.0).reshape(3, 4)
    assert t[:: 2**62].shape == (1, 4)
    assert t.unfold(0, 1, 2**62).shape == (1, 4, 1)
    assert t.diagonal(-(2**63)).shape == t.diagonal(2**63 - 1).shape == (0,)
    assert wg.zeros(0, 2**62, 2**62).shape == (0, 2**62, 2**62)


def test_a_gradient_that_the_mask_of_masked_scatter_does_not_fit():
    with pytest.raises(RuntimeError, match="too few elements"):
        _C._private.masked_scatter_backward(wg.ones(100), wg.ones(100, dtype=wg.bool), [2])


@pytest.mark.parametrize("pivots", [[1, 3], [0, 1], [-5, 2], [2**31 - 1, 1]])
def test_pivots_that_no_factorization_gives(pivots):
    lu, pivots = wg.eye(2), wg.tensor(pivots, dtype=wg.int32)
    with pytest.raises(RuntimeError, match="Pivots given to"):
        wg.linalg.lu_solve(lu, pivots, wg.ones(2, 1))
    with pytest.raises(RuntimeError, match="Pivots given to"):
        wg.lu_unpack(lu, pivots)
