"""Saved tensors, their hooks and versions from Python: rows S1 to S11, V17 and V18 of the table of features."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import threading
import weakref

import pytest

import wengert as wg
from wengert.autograd import _unsafe_preserve_version_counter
from wengert.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    increment_version,
    save_on_cpu,
    saved_tensors_hooks,
)


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


# --- What nodes show of what they saved
def test_S1_inputs_keep_their_identity(x):
    y = x * 1
    z = y * x
    assert z.grad_fn._saved_self is y
    assert z.grad_fn._saved_other is x
    w = wg.ones(2)
    assert (x * w).grad_fn._saved_other is w
    assert (x * w).grad_fn._saved_self is None
    assert {"_saved_self", "_raw_saved_self", "_saved_other", "_raw_saved_other", "name"} <= set(dir(z.grad_fn))
    with pytest.raises(AttributeError, match="_saved_nothing"):
        _ = z.grad_fn._saved_nothing
    z.sum().backward()
    for use in (lambda: z.grad_fn._saved_self, lambda: z.sum().backward()):
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            use()


def test_S1_outputs_are_made_anew(x):
    y = x.exp()
    saved = y.grad_fn._saved_result
    assert saved is not y
    assert saved.grad_fn is y.grad_fn
    assert saved.requires_grad
    with wg.no_grad():
        saved.add_(1)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _ = y.grad_fn._saved_result


def test_S2_hooks_on_one_saved_tensor(x):
    y = x * x
    saved = y.grad_fn._raw_saved_self
    for arguments in ((lambda t: t, 1), (lambda t: t,)):
        with pytest.raises(TypeError, match="register_hooks"):
            saved.register_hooks(*arguments)
    saved.register_hooks(lambda t: t.tolist(), wg.tensor)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="already been set"):
            y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="after it has been freed"):
        saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="None is forbidden"):
        (x * wg.ones(2)).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="None is forbidden"):
        (x * 2).grad_fn._raw_saved_other.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        type(saved)()


def test_S2_a_pack_hook_that_fails_or_writes(x):
    def fail(tensor):
        raise KeyError("pack")

    y = x.exp()
    with pytest.raises(KeyError):
        y.grad_fn._raw_saved_result.register_hooks(fail, lambda t: t)
    y.sum().backward()
    wg.testing.assert_close(x.grad, x.detach().exp())
    y = x.exp()
    with pytest.raises(RuntimeError, match=r"A saved tensor pack hook is modifying its input in place\."):
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t.add_(1), lambda t: t)


def test_S3_hooks_see_the_tensor_itself(x):
    seen = []
    parameter = wg.nn.Parameter(wg.ones(2))
    with saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        y = parameter * x
    assert {id(t) for t in seen} == {id(parameter), id(x)}
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_S3_what_is_packed(x):
    packed = []
    with saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        for operation, count in (
            (lambda: x * 2, 0),
            (lambda: x * x, 2),
            (lambda: x.exp(), 1),
            (lambda: x + 1, 0),
            (lambda: x.sum(), 0),
        ):
            packed.clear()
            operation()
            assert len(packed) == count
        packed.clear()
        with wg.no_grad():
            x * x
    assert not packed


def test_S3_hooks_belong_to_a_thread_and_reach_recorded_backwards(x):
    packed = []
    y = x**3
    with saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
        assert not packed
        (first,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    assert packed
    (second,) = wg.autograd.grad(first.sum(), x)
    assert second.tolist() == [6.0, 12.0]


def test_S4_metadata_is_attached_again(x):
    given = wg.tensor([5.0, 6.0])
    y = x * 1
    with saved_tensors_hooks(lambda t: t.detach(), lambda t: given):
        z, e = y * x, y.exp()
    mine, leaf, result = z.grad_fn._saved_self, z.grad_fn._saved_other, e.grad_fn._saved_result
    assert mine is not given
    assert mine.grad_fn is y.grad_fn
    assert leaf.is_leaf
    assert leaf.requires_grad
    assert result.grad_fn is e.grad_fn
    assert not given.requires_grad
    (leaf * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_S7_mutation_of_saved_tensors(x):
    with allow_mutation_on_saved_tensors() as context:
        a = x * 1
        b = a**2
        a.sin_()
        assert (len(context.cloned), len(context.original)) == (1, 1)
        b.sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]
    assert not any(map(len, (context.cloned, context.original, context.tid_to_weakhandle, context.sid_to_tid)))


@pytest.mark.parametrize(
    "write",
    [
        lambda a: a[:1].zero_(),
        lambda a: a[1:].zero_(),
        lambda a: wg.add(a.detach(), 1, out=a.detach()),
        lambda a: a.__setitem__(wg.tensor([0]), 3.0),
        lambda a: a.copy_(wg.ones(2)),
        lambda a: a.normal_(),
        lambda a: a.mul_(a),
    ],
)
def test_S7_every_kind_of_write(x, write):
    with allow_mutation_on_saved_tensors() as context:
        a = x * 1
        b = a.sin() + a.exp()
        write(a)
        assert len(context.cloned) >= 1
        b.sum().backward()
        wg.testing.assert_close(x.grad, x.detach().cos() + x.detach().exp())


def test_S7_copies_die_with_the_graph(x):
    with allow_mutation_on_saved_tensors() as context:
        a = x * 1
        b = a**2
        a.zero_()
        assert len(context.cloned) == 1
        del b
        assert not any(map(len, (context.cloned, context.original, context.tid_to_weakhandle, context.sid_to_tid)))
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), allow_mutation_on_saved_tensors():
            pass
        b = (x * 1) ** 2
    with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors'"):
        b.sum().backward()


def test_S8_saved_then_detached(x):
    y = x * 1
    z = y * y
    y.detach_()
    with pytest.raises(RuntimeError, match="Trying to use a saved tensor that has been detached"):
        z.sum().backward()
    y = x.exp()
    z = y * 2
    y.detach_()
    z.sum().backward()
    wg.testing.assert_close(x.grad, 2 * x.detach().exp())


def test_S9_inference_tensors_are_not_saved(x):
    with wg.inference_mode():
        inference = wg.ones(2)
    for operation in (lambda: x * inference, lambda: x @ inference, lambda: x / inference):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            operation()
    (x + inference).sum().backward()
    inference * 2


def test_S10_scopes_left_and_entered_inside_unpack(x):
    pop = wg._C._autograd._pop_saved_tensors_default_hooks
    push = wg._C._autograd._push_saved_tensors_default_hooks

    def leave(tensor):
        pop()
        return tensor

    def enter(tensor):
        push(lambda t: t, lambda t: t)
        return tensor

    # What a pass changes ends with it.
    with saved_tensors_hooks(lambda t: t, leave):
        x.exp().sum().backward()
    with saved_tensors_hooks(lambda t: t, enter):
        y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="not active"):
        pop()


def test_S11_make_saved_tensor(x):
    make = wg._C._autograd._make_saved_tensor
    y = x * 1
    saved = make(y, False)
    assert saved.unpack() is y
    assert make(x, False).unpack() is x
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.unpack()
    packed = make(x, False)
    packed.register_hooks(lambda t: t.tolist(), wg.tensor)
    assert packed.unpack().requires_grad
    for wrong in ((1, False), (x,)):
        with pytest.raises(TypeError):
            make(*wrong)


def test_hooks_live_as_long_as_they_are_needed(x):
    class Identity:
        def __call__(self, tensor):
            return tensor

    pack, unpack = Identity(), Identity()
    packing, unpacking = weakref.ref(pack), weakref.ref(unpack)
    with saved_tensors_hooks(pack, unpack):
        y = x.exp()
    del pack, unpack
    assert packing() is None
    assert unpacking() is not None
    y.sum().backward()
    assert unpacking() is None
