"""The identity of tensors: lifetime, copies and pickles, parameters, subclasses and types that override functions."""

import copy
import gc
import pickle
import weakref

import pytest

import wengert as wg
from tests.dtypes import DTYPES


# --- Identity and lifetime
def test_hash_and_identity():
    t = wg.ones(2)
    assert {t: 1}[t] == 1
    x = wg.ones(2, requires_grad=True)
    x.grad = wg.ones(2)
    assert x.grad is x.grad


def test_attributes_survive_a_stay_in_the_core():
    x = wg.ones(2, requires_grad=True)
    x.grad = wg.ones(2)
    x.grad.tag = "kept"
    ref = weakref.ref(x.grad)
    gc.collect()
    assert x.grad.tag == "kept"
    assert ref() is x.grad
    x.grad = None
    assert ref() is None


def test_subclass_survives_a_stay_in_the_core():
    x = wg.ones(2, requires_grad=True)
    x.grad = wg.ones(2).as_subclass(Tagged)
    gc.collect()
    assert type(x.grad) is Tagged


def test_weak_references_and_cycles():
    t = wg.ones(2)
    t.self = t
    ref = weakref.ref(t)
    del t
    gc.collect()
    assert ref() is None


def test_many_short_lived_tensors_are_recycled():
    ids = {id(wg.ones(1)) for _ in range(100)}
    assert len(ids) < 10


# --- Copies
def test_deepcopy_of_leaves():
    t = wg.ones(2, requires_grad=True)
    t.grad = wg.full((2,), 3.0)
    t.tag = ["a"]
    c = copy.deepcopy(t)
    assert c.requires_grad
    assert c.grad.tolist() == [3.0, 3.0]
    assert c.tag == ["a"]
    assert c.tag is not t.tag
    assert c.data_ptr() != t.data_ptr()
    first, second = copy.deepcopy([t, t])
    assert first is second
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(t * 2)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle(protocol, dtype):
    t = wg.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype).transpose(0, 1)
    back = pickle.loads(pickle.dumps(t, protocol))
    assert back.dtype is dtype
    assert back.stride() == t.stride()
    assert back.tolist() == t.tolist()


def test_pickle_keeps_type_and_requires_grad():
    p = wg.nn.Parameter(wg.ones(2))
    back = pickle.loads(pickle.dumps(p))
    assert type(back) is wg.nn.Parameter
    assert back.requires_grad
    assert pickle.loads(pickle.dumps(p * 2)).is_leaf


# --- Parameters and subclasses
def test_parameter():
    data = wg.ones(2)
    p = wg.nn.Parameter(data)
    assert p.requires_grad
    assert p.data_ptr() == data.data_ptr()
    assert type(p + 1) is wg.Tensor
    with wg.no_grad():
        assert wg.nn.Parameter(wg.ones(1)).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        wg.nn.Parameter(wg.tensor([1]))


class Tagged(wg.Tensor):
    pass


def test_results_of_a_subclass_are_of_the_subclass():
    t = wg.ones(2).as_subclass(Tagged)
    assert type(t) is Tagged
    for result in (t + 1, 1 + t, wg.exp(t), t.exp(), t[0], t.sum(), -t, t == 1, t.T, wg.ones(2) * t):
        assert type(result) is Tagged
    assert type(t.shape) is wg.Size
    assert repr(t) == "Tagged([1., 1.])"


def test_torch_function_sees_everything():
    calls = []

    class Logged(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append((func.__name__, types, len(args), kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs)

    t = wg.ones(2).as_subclass(Logged)
    calls.clear()
    wg.add(t, t, alpha=2)
    t.sum(dim=0)
    assert [c[0] for c in calls] == ["add", "sum"]
    assert calls[0][1:] == ((Logged,), 2, {"alpha": 2})


def test_duck_types_override_functions():
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert wg.exp(Duck()) == "exp"
