"""How checkpoints are called: arguments, the reentrant variant, sequences and helpers; rows K1, K2, K9 and K12."""

import functools
import warnings

import pytest

import wengert as wg
from tests.checkpoints import Counting, again, body, expected
from wengert.autograd import Function, grad
from wengert.utils.checkpoint import (
    CheckpointError,
    CheckpointFunction,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    noop_context_fn,
)


@pytest.fixture
def x():
    return wg.tensor([0.1, 0.2, 0.3], requires_grad=True)


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
