"""Types that override functions: asked from inside an index or a list, and answering with rubbish."""

import contextlib
import gc
from typing import ClassVar

import pytest

import wengert as wg
from tests.functions import works
from wengert.autograd import grad
from wengert.utils.checkpoint import checkpoint


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


# --- Elsewhere
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


def test_membership_where_equality_is_overridden():
    t = wg.tensor([1.0])
    assert t.as_subclass(Answering) in t
    Answering.answer = 0
    try:
        assert t.as_subclass(Answering) not in t
    finally:
        Answering.answer = 7


# --- Answers that are rubbish
class Rubbish(wg.Tensor):
    answer = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if isinstance(cls.answer, BaseException):
            raise cls.answer
        return cls.answer


@pytest.mark.parametrize("answer", [None, 5, "text", [], (), NotImplemented, KeyError("raised"), object(), -1])
def test_answers_of_overriding_types(x, answer):
    Rubbish.answer = answer
    t = wg.ones(2, 2).as_subclass(Rubbish)
    uses = [
        lambda: t + t, lambda: 2 - t, lambda: t @ t, lambda: -t, lambda: t[0], lambda: len(t),
        lambda: t.__setitem__(0, 1),
        lambda: bool(t), lambda: float(t), lambda: int(t), lambda: list(t), lambda: t in (t,), lambda: 1 in t,
        lambda: t.shape, lambda: t.grad_fn, lambda: t.backward(), lambda: t.tolist(), lambda: wg.cat([t, t]),
        lambda: wg.autograd.grad(t, t), lambda: repr(t), lambda: format(t, "5"), lambda: hash(t), lambda: t == t,
        lambda: wg.ones(2).index_put((t,), t), lambda: wg.stack((wg.ones(2), t)), lambda: x * t, lambda: t.numpy(),
        lambda: wg.nn.functional.relu(t), lambda: t.requires_grad_(), lambda: t.data, lambda: wg.tensor(t),
        lambda: t.register_hook(lambda g: g), lambda: checkpoint(lambda a: a * 2, t, use_reentrant=False),
        lambda: wg.func.grad(lambda a: a.sum())(t), lambda: wg.func.vmap(lambda a: a * 2)(t),
        lambda: memoryview(t), lambda: t.__array__(), lambda: divmod(t, 2), lambda: t.__iadd__(1), lambda: t**2,
    ]  # fmt: skip
    for use in uses:
        with contextlib.suppress(Exception):
            use()
    Rubbish.answer = None
    works()


def test_gradients_that_override(x):
    class Keeps(wg.Tensor):
        pass

    Rubbish.answer = 5
    for kind in (Rubbish, Keeps):
        y = x * 2 + x.exp()
        y.register_hook(lambda g, kind=kind: g.clone().as_subclass(kind))
        with contextlib.suppress(Exception):
            y.sum().backward(retain_graph=True)
        with contextlib.suppress(Exception):
            grad(y, x, wg.ones(2).as_subclass(kind), create_graph=True)
    Rubbish.answer = None
    works()


def test_reprs_that_call_each_other(x):
    class Loops(wg.Tensor):
        def __repr__(self, **kwargs):
            return f"Loops({self.partner!r})"

    a, b = x.detach().as_subclass(Loops), x.detach().as_subclass(Loops)
    a.partner, b.partner = b, a
    with pytest.raises(RecursionError):
        repr(a)
    node = (x * 2).grad_fn
    node.metadata["me"] = node.metadata
    node.metadata["node"] = node
    repr(node.metadata)
    gc.collect()
