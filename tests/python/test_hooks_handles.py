"""What registering a hook returns, and which hooks can be pickled: rows H7 and H13 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import pickle
import weakref
from collections import OrderedDict

import pytest

import wengert as wg
from wengert.utils.hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_H7_handle(x):
    handle = x.register_hook(lambda gradient: gradient * 2)
    assert isinstance(handle, RemovableHandle)
    handle.remove()
    handle.remove()
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with x.register_hook(lambda gradient: gradient * 2):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    assert x.register_hook(print).id < x.register_hook(print).id


def test_H7_handle_removed_inside_its_hook(x):
    seen = []

    def once(gradient):
        seen.append(1)
        handle.remove()

    handle = x.register_hook(once)
    x.sum().backward()
    x.sum().backward()
    assert seen == [1]


def test_H7_handle_is_weak_and_picklable():
    hooks = OrderedDict()
    extra = OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = extra[handle.id] = "hook"
    copy = pickle.loads(pickle.dumps(handle))
    assert copy.id == handle.id
    copy.remove()
    assert hooks == {handle.id: "hook"}
    handle.remove()
    assert not hooks
    assert not extra
    reference = weakref.ref(hooks)
    del hooks
    gc.collect()
    assert reference() is None
    handle.remove()
    pickle.loads(pickle.dumps(handle)).remove()
    assert RemovableHandle(OrderedDict()).id > handle.id


def test_H13_unserializable_hook(x):
    @unserializable_hook
    def quiet(gradient):
        return None

    x.register_hook(quiet)
    warn_if_has_hooks(x)
    x.register_hook(lambda gradient: None)
    with pytest.warns(UserWarning, match="will not be serialized"):
        warn_if_has_hooks(x)
