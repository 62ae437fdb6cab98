"""Checkpoints that keep the results of some operations: row K10 of the table of features."""

import functools

import pytest

import wengert as wg
from tests.checkpoints import Counting, again, body, expected
from wengert.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

aten = wg.ops.aten


@pytest.fixture
def x():
    return wg.tensor([0.1, 0.2, 0.3], requires_grad=True)


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
    assert operations.seen.count("aten.mm.default") == 1
    assert operations.seen.count("aten.matmul_chain.default") == 2  # in backward, under the chain rule
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
