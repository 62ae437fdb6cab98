"""Checkpoints compute again what backward needs: rows K3 (what is kept and what runs), K4 (where it stops) and K8
(random numbers) of the table of features.
"""

import weakref

import pytest

import wengert as wg
from tests.checkpoints import Counting, again, body, expected
from wengert.autograd import Function, grad
from wengert.utils.checkpoint import (
    CheckpointError,
    DefaultDeviceType,
    checkpoint,
    get_device_states,
    set_checkpoint_early_stop,
    set_device_states,
)


@pytest.fixture
def x():
    return wg.tensor([0.1, 0.2, 0.3], requires_grad=True)


# --- K3
def test_k3_backward_runs_the_function_once_more(x):
    f = Counting(body)
    y = again(f, x)
    y.sum().backward()
    assert f.runs == 2
    assert x.grad.tolist() == expected(body, x)


def test_k3_keeps_nothing_of_the_inside():
    x = wg.ones(1000, requires_grad=True)
    kept = []

    def f(x):
        y = x.exp()
        kept.append(weakref.ref(y))
        return y.sin()

    y = again(f, x)
    assert kept[0]() is None
    y.sum().backward()
    assert kept[1]() is None


def test_k3_supports_grad_and_create_graph(x):
    (first,) = grad(again(body, x).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    (reference,) = grad(body(x).sum(), x, create_graph=True)
    assert second.tolist() == pytest.approx(grad(reference.sum(), x)[0].tolist())


def test_k3_nested_structures_and_other_values(x):
    def f(data, flag, nothing):
        assert flag == "a"
        assert nothing is None
        return {"y": [data["x"][0].exp() * data["x"][1], "word"]}

    y = again(f, {"x": [x, x.detach()]}, "a", None)
    assert y["y"][1] == "word"
    assert grad(y["y"][0].sum(), x)[0].tolist() == expected(lambda x: x.exp() * x.detach(), x)


def test_k3_detached_regions_and_unused_outputs(x):
    f = Counting(lambda x: (x.exp().detach(), x.sin().cos(), 3))
    a, b, three = again(f, x)
    assert not a.requires_grad
    assert three == 3
    b.sum().backward()
    assert x.grad.tolist() == expected(lambda x: x.sin().cos(), x)


def test_k3_without_grad_mode_it_is_a_call(x):
    with wg.no_grad():
        assert not again(body, x).requires_grad


def test_k3_retained_graph_computes_again_in_each_pass(x):
    f = Counting(body)
    y = again(f, x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert f.runs == 3


def test_k3_looking_at_a_saved_tensor_outside_of_a_pass(x):
    node = again(body, x).grad_fn
    assert node._saved_result.tolist() == node._saved_result.tolist() == body(x).tolist()


def test_k3_unpacked_twice_in_a_pass_names_the_operation(x):
    y = again(body, x)
    node = y.grad_fn

    def look_twice(_):
        node._saved_result  # noqa: B018
        node._saved_result  # noqa: B018

    node.register_prehook(look_twice)
    with pytest.raises(CheckpointError, match=r"already unpacked once(.|\n)*'exp' at .*tests/checkpoints.py:"):
        y.sum().backward()


def test_k3_a_write_to_a_saved_tensor_is_found(x):
    def f(x):
        y = x.exp()
        z = y.sin()
        y.mul_(2)
        return z.exp()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        again(f, x).sum().backward()


def test_k3_an_error_leaves_the_graph_usable(x):
    f = Counting(body, lambda x: 1 / 0, body)
    y = again(f, x).sum()
    with pytest.raises(ZeroDivisionError):
        y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == expected(body, x)


def test_k3_custom_function_inside(x):
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * gradient

    assert grad(again(lambda x: Cube.apply(x.exp()), x).sum(), x)[0].tolist() == pytest.approx(
        expected(lambda x: x.exp() ** 3, x)
    )


# --- K4
def stops_at(early_stop, x):
    reached = []

    def f(x):
        y = x.exp().sin()
        reached.append(1)
        return y

    with set_checkpoint_early_stop(early_stop):
        y = again(f, x)
    y.sum().backward()
    return len(reached)


def test_k4_early_stop_is_captured_at_forward(x):
    assert (stops_at(True, x), stops_at(False, x)) == (1, 2)


def test_k4_as_an_argument(x):
    f = Counting(lambda x: x.exp().sin())
    ends = []

    def g(x):
        y = f(x)
        ends.append(1)
        return y

    again(g, x, early_stop=False).sum().backward()
    assert (f.runs, len(ends)) == (2, 2)


# --- K8
def test_k8_random_numbers_are_drawn_again_and_the_program_goes_on_undisturbed(x):
    wg.manual_seed(3)
    noise = []

    def f(x):
        noise.append(wg.rand(3))
        return (x * noise[-1]).exp().sin()

    y = again(f, x)
    before = wg.get_rng_state()
    y.sum().backward()
    assert noise[0].tolist() == noise[1].tolist()
    assert wg.get_rng_state().tolist() == before.tolist()
    y = again(f, x, preserve_rng_state=False)
    y.sum().backward()
    assert noise[2].tolist() != noise[3].tolist()


def test_k8_reentrant_too(x):
    noise = []

    def f(x):
        noise.append(wg.rand(3))
        return x * noise[-1]

    checkpoint(f, x, use_reentrant=True).sum().backward()
    assert noise[0].tolist() == noise[1].tolist()


def test_k8_device_states():
    assert get_device_states(wg.ones(2)) == ([], [])
    set_device_states([], [])
    with pytest.raises(RuntimeError, match="only the CPU"):
        set_device_states([0], [wg.ones(1)])
    previous = DefaultDeviceType.get_device_type()
    DefaultDeviceType.set_device_type("sim")
    assert DefaultDeviceType.get_device_type() == "sim"
    DefaultDeviceType.set_device_type(previous)
