"""Checkpoints: tests for the rows K1-K12 of the table of features."""

import functools
import gc
import warnings
import weakref

import pytest

import wengert as wg
from wengert.autograd import Function, grad
from wengert.utils.checkpoint import (
    CheckpointError,
    CheckpointFunction,
    CheckpointPolicy,
    DefaultDeviceType,
    GraphExecGroup,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    detach_variable,
    get_device_states,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
)

again = functools.partial(checkpoint, use_reentrant=False)
aten = wg.ops.aten


@pytest.fixture
def x():
    return wg.tensor([0.1, 0.2, 0.3], requires_grad=True)


def body(x):
    return (x.sin() * x).exp()


class Counting:
    """A function that counts its runs; `variants` are the bodies of the first, second, ... run."""

    def __init__(self, *variants):
        self.variants, self.runs = variants, 0

    def __call__(self, *args):
        self.runs += 1
        return self.variants[min(self.runs, len(self.variants)) - 1](*args)


def expected(function, x):
    return grad(function(x).sum(), x)[0].tolist()


# --- K1
def test_k1_leaving_use_reentrant_out_warns_and_means_true(x):
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        y = checkpoint(body, x)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use_reentrant": True, "other": 1}, "Unexpected keyword arguments: other"),
        ({"use_reentrant": True, "context_fn": lambda: None}, "only supported when use_reentrant=False"),
        ({"use_reentrant": True, "debug": True}, "only supported when use_reentrant=False"),
        ({"use_reentrant": False, "determinism_check": "so"}, "determinism_check should be one of"),
        ({"use_reentrant": False, "debug": True, "context_fn": lambda: None}, "debug=True is incompatible"),
    ],
)
def test_k1_arguments_that_do_not_go_together(x, options, message):
    with pytest.raises(ValueError, match=message):
        checkpoint(body, x, **options)


def test_k1_keyword_arguments_reach_the_function(x):
    y = again(lambda x, *, scale: (x * scale).exp(), x, scale=wg.tensor(2.0))
    assert grad(y.sum(), x)[0].tolist() == expected(lambda x: (x * 2).exp(), x)


# --- K2
def test_k2_reentrant_gives_the_gradients_of_the_function(x):
    checkpoint(body, x, use_reentrant=True).sum().backward()
    assert x.grad.tolist() == expected(body, x)


def test_k2_no_input_requires_grad():
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(body, wg.ones(2), use_reentrant=True)


def test_k2_grad_and_inputs_are_refused_and_the_flag_is_reset(x):
    for action in (lambda y: grad(y, x), lambda y: y.backward(inputs=[x])):
        with pytest.raises(RuntimeError, match=r"checkpoint is incompatible with .grad\(\)"):
            action(checkpoint(body, x, use_reentrant=True).sum())
    assert wg.autograd.Variable._execution_engine.is_checkpoint_valid()
    checkpoint(body, x, use_reentrant=True).sum().backward()


def test_k2_no_output_requires_grad(x):
    y = checkpoint(lambda x: x.detach(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.sum().backward()


def test_k2_nested(x):
    inner = functools.partial(checkpoint, body, use_reentrant=True)
    checkpoint(lambda x: inner(x).sin(), x, use_reentrant=True).sum().backward()
    assert x.grad.tolist() == pytest.approx(expected(lambda x: body(x).sin(), x))


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
    with pytest.raises(CheckpointError, match=r"already unpacked once(.|\n)*'exp' at .*test_checkpoint.py:"):
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


# --- K5
def test_k5_fewer_tensors_says_where_the_runs_part(x):
    runs = []

    def f(x):
        runs.append(1)
        y = x.sin()
        return y.cos() if len(runs) == 1 else y

    y = again(f, x).sum()
    with pytest.raises(CheckpointError, match="A different number of tensors was saved") as caught:
        y.backward()
    assert "during forward: 2" in str(caught.value)
    assert "during recomputation: 1" in str(caught.value)
    assert "Only the forward pass saved the tensor after that, by 'cos' at" in str(caught.value)
    assert __file__ in str(caught.value)
    y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x).sum()
    with pytest.raises(CheckpointError, match="The runs part at tensor 0: the forward pass saved it by 'sin' at"):
        y.backward()


def test_k5_more_tensors(x):
    y = again(Counting(lambda x: x.sin(), lambda x: x.sin().cos()), x, early_stop=False).sum()
    with pytest.raises(CheckpointError, match=r"trying to save more tensors during recomputation(.|\n)*by 'cos' at"):
        y.backward()


def test_k5_other_metadata(x):
    y = again(Counting(lambda x: x.sin() * 2, lambda x: x.double().sin()), x).sum()
    with pytest.raises(CheckpointError, match=r"have different metadata(.|\n)*float32(.|\n)*float64") as caught:
        y.backward()
    assert "tensor at position 0, saved by 'sin' at" in str(caught.value)


def test_k5_none_compares_numbers_only(x):
    f = Counting(lambda x: x.sin(), lambda x: x.double().sin())
    again(f, x, determinism_check="none").sum().backward()


# --- K6
def test_k6_debug_shows_the_operations_of_both_runs(x):
    y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x, debug=True).sum()
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    message = str(caught.value)
    assert "$1: float32[3] = aten.sin.default($0)" in message
    assert "aten.cos.default($1)   (2 of 2 in original)" in message
    assert "aten.exp.default($0)   (1 of 1 in recompute)" in message
    assert "test_checkpoint.py" in message
    assert "A different number of tensors" in message


def test_k6_block_decides(x):
    with set_checkpoint_debug_enabled(True):
        y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x).sum()
    with pytest.raises(CheckpointError, match=r"aten.cos.default"):
        y.backward()
    with set_checkpoint_debug_enabled(False):
        y = again(Counting(lambda x: x.sin().cos(), lambda x: x.exp()), x, debug=True).sum()
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    assert "aten.cos.default" not in str(caught.value)


# --- K7
@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_k7_arbitrary_nesting(x, depth, early_stop):
    def nested(depth, x):
        if depth == 0:
            return body(x)
        return again(functools.partial(nested, depth - 1), x.cos()).sin()

    def plain(depth, x):
        return body(x) if depth == 0 else plain(depth - 1, x.cos()).sin()

    with set_checkpoint_early_stop(early_stop):
        y = nested(depth, x)
    assert grad(y.sum(), x)[0].tolist() == pytest.approx(expected(functools.partial(plain, depth), x))


def test_k7_inner_arguments_are_saved_by_the_parent():
    x = wg.ones(1000, requires_grad=True)
    inner_inputs = []

    def outer(x):
        y = x.exp()
        inner_inputs.append(weakref.ref(y))
        return again(body, y).sin()

    z = again(outer, x)
    assert inner_inputs[0]() is None
    z.sum().backward()


def test_k7_grad_inside(x):
    def f(x):
        y = again(body, x)
        (g,) = grad(y.sum(), x, create_graph=True)
        return g * x

    y = again(f, x)
    assert grad(y.sum(), x)[0].tolist() == pytest.approx(
        expected(lambda x: grad(body(x).sum(), x, create_graph=True)[0] * x, x)
    )


def test_k7_the_graph_dies_by_counting_alone(x):
    gc.collect()
    gc.disable()
    try:
        y = again(lambda x: again(body, x.exp()).sin(), x)
        reference = weakref.ref(y.grad_fn)
        y.sum().backward(retain_graph=True)
        del y
        assert reference() is None
    finally:
        gc.enable()


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


# --- K9
@pytest.mark.parametrize("use_reentrant", [True, False])
def test_k9_sequential(x, use_reentrant):
    chain = [Counting(wg.sin), Counting(wg.cos), Counting(wg.exp), Counting(wg.square), Counting(wg.sin)]
    checkpoint_sequential(chain, 2, x, use_reentrant=use_reentrant).sum().backward()
    assert [f.runs for f in chain] == [2, 2, 1, 1, 1]
    assert x.grad.tolist() == pytest.approx(expected(lambda x: x.sin().cos().exp().square().sin(), x))


def test_k9_misuse(x):
    with pytest.raises(ValueError, match="Unexpected keyword arguments: other"):
        checkpoint_sequential([wg.sin], 1, x, use_reentrant=False, other=1)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint_sequential([wg.sin, wg.cos], 2, x)


# --- K10
def selective(keep, **options):
    return functools.partial(create_selective_checkpoint_contexts, keep, **options)


class Operations(wg.utils._python_dispatch.TorchDispatchMode):
    """Notes what reaches the kernels."""

    def __init__(self):
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_k10_kept_results_are_not_computed_again(x):
    with Operations() as operations:
        y = again(body, x, context_fn=selective([aten.sin.default, aten.exp.default])).sum()
        y.backward()
    assert operations.seen.count("aten.sin.default") == 1
    assert operations.seen.count("aten.exp.default") == 1
    assert x.grad.tolist() == expected(body, x)


def test_k10_policy_is_asked_in_forward_only(x):
    calls = []

    def policy(ctx, op, *args, **kwargs):
        calls.append((ctx.is_recompute, str(op), len(args), type(ctx.op_output).__name__))
        return CheckpointPolicy.MUST_SAVE if op is aten.sin.default else CheckpointPolicy.PREFER_RECOMPUTE

    again(body, x, context_fn=selective(policy)).sum().backward()
    assert calls == [
        (False, "aten.sin.default", 1, "Tensor"),
        (False, "aten.mul.default", 2, "Tensor"),
        (False, "aten.exp.default", 1, "Tensor"),
    ]


def test_k10_reuse_goes_by_the_number_of_the_call(x):
    kept = []

    def policy(ctx, op, *args, **kwargs):
        kept.append(op)
        return kept.count(aten.sin.default) == 2 and op is aten.sin.default

    f = lambda x: x.sin().sin().sin().exp()  # noqa: E731
    again(f, x, context_fn=selective(policy)).sum().backward()
    assert x.grad.tolist() == expected(f, x)


def test_k10_products_inside_matmul(x):
    w = wg.ones(3, 3, requires_grad=True)
    with Operations() as operations:
        again(lambda w: (w @ w).exp().sin(), w, context_fn=selective([aten.mm.default])).sum().backward()
    assert operations.seen.count("aten.mm.default") == 1 + 2  # forward, and two in backward
    assert w.grad.tolist() == expected(lambda w: (w @ w).exp().sin(), w)


def test_k10_misuse(x):
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload"):
        create_selective_checkpoint_contexts([wg.mm])
    with pytest.raises(TypeError, match="policy_fn_or_list must be either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)


def test_k10_second_backward(x):
    y = again(body, x, context_fn=selective([aten.sin.default])).sum()
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.backward()


def test_k10_mutated(x):
    def f(x):
        y = x.sin()
        with wg.no_grad():
            y.mul_(2)
        return y.cos()

    with pytest.raises(RuntimeError, match="has been mutated"):
        again(f, x, context_fn=selective([aten.sin.default])).sum().backward()


def test_k10_operation_that_forward_did_not_run(x):
    f = Counting(lambda x: x.sin().exp(), lambda x: x.cos().exp())
    with pytest.raises(RuntimeError, match=r"aten.cos.default encountered during backward, but not found in storage"):
        again(f, x, context_fn=selective([aten.sin.default])).sum().backward()


# --- K11
def test_k11_group_shares_a_recomputation(x):
    f = Counting(lambda x: (x.sin().exp(), x.cos().exp()))
    a, b = again(f, x)
    with GraphExecGroup():
        a.sum().backward()
        b.sum().backward()
    assert f.runs == 2
    assert x.grad.tolist() == pytest.approx(expected(lambda x: x.sin().exp() + x.cos().exp(), x))


def test_k11_misuse(x):
    with GraphExecGroup() as group, pytest.raises(RuntimeError, match="cannot be nested"), group:
        pass
    with GraphExecGroup():
        y = again(body, x).sum()
        y.backward(retain_graph=True)
        with pytest.raises(CheckpointError, match="Performing two backward calls that overlap"):
            y.backward()


# --- K12
def test_k12_helpers(x):
    assert issubclass(CheckpointFunction, Function)
    assert issubclass(CheckpointError, RuntimeError)
    contexts = noop_context_fn()
    assert len(contexts) == 2
    (y, number) = detach_variable((x, 3))
    assert y.requires_grad
    assert y.is_leaf
    assert y is not x
    assert number == 3
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        detach_variable(x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        check_backward_validity([wg.ones(2)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_backward_validity([x])


def test_modules_are_loaded_when_first_used():
    import subprocess
    import sys

    program = (
        "import sys, wengert; names = ['utils.checkpoint', 'autograd.profiler', 'graph', 'ops']; "
        "print([n for n in names if 'wengert.' + n in sys.modules]); wengert.utils.checkpoint.checkpoint"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
