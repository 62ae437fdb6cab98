"""Section 9 of the semantics: the engine."""

import itertools
import threading

from tests.differential.observation import differential, raised
from tests.functions import noting_function


def _x(tc):
    return tc.tensor([1.0, 2.0], requires_grad=True)


def _nested(tc, note):
    class Nested(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x, levels):
            ctx.levels = levels
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            note(ctx.levels)
            if ctx.levels:
                with tc.enable_grad():
                    leaf = tc.ones(2, requires_grad=True)
                    Nested.apply(leaf, ctx.levels - 1).sum().backward()
            return gradient, None

    return Nested.apply


def E1_order_of_ready_nodes(tc):
    x, notes, noting = _x(tc), [], noting_function(tc).apply
    shared = noting(x, "shared", notes)
    first, second = noting(shared, "first", notes), noting(shared, "second", notes)
    third = noting(first, "third", notes)
    (first + second + third).sum().backward()
    return notes


def E1_accumulation_comes_first(tc):
    x, notes, noting = _x(tc), [], noting_function(tc).apply
    early = noting(x * 1, "early", notes)
    leaf = tc.ones(2, requires_grad=True)
    leaf.register_post_accumulate_grad_hook(lambda leaf: notes.append("leaf"))
    (early + leaf).sum().backward()
    return notes


def E1_set_sequence_nr(tc):
    x, notes, noting = _x(tc), [], noting_function(tc).apply
    first, second = noting(x, "first", notes), noting(x, "second", notes)
    first.grad_fn._set_sequence_nr(second.grad_fn._sequence_nr() + 1)
    (first + second).sum().backward()
    return notes


def E4_threads_of_nested_passes(tc):
    idents = []
    _nested(tc, lambda level: idents.append(threading.get_ident()))(_x(tc), 200).sum().backward()
    return [len(list(group)) for _, group in itertools.groupby(idents)]


def E5_nested_pass_precedes(tc):
    x, notes, noting = _x(tc), [], noting_function(tc).apply
    early, late = noting(x, "early", notes), noting(x, "late", notes)

    def nested(gradient):
        with tc.enable_grad():
            noting(noting(tc.ones(2, requires_grad=True), "inner", notes), "inner too", notes).sum().backward()

    late.register_hook(nested)
    (early + late).sum().backward()
    return notes


def E6_type_of_the_error(tc):
    class OopsError(Exception):
        pass

    def fail(level):
        if level == 0:
            raise OopsError("as it was")

    x = _x(tc)
    y = _nested(tc, fail)(x, 100)
    return raised(y.sum().backward, "as it was"), x.grad, raised((x * 2).sum().backward), x.grad


def E6_checkpoint_validity(tc):
    engine = tc.autograd.Variable._execution_engine
    x, seen = _x(tc), [engine.is_checkpoint_valid()]

    def look(gradient):
        seen.append(engine.is_checkpoint_valid())
        raise KeyError("stop")

    for run in (lambda y: tc.autograd.grad(y.sum(), x), lambda y: y.sum().backward()):
        y = x * 2
        y.register_hook(look)
        seen.append(raised(lambda run=run, y=y: run(y), "stop"))
        seen.append(engine.is_checkpoint_valid())
    return seen


def E8_grad_mode_of_a_pass(tc):
    modes = []
    y = _nested(tc, lambda level: modes.append(tc.is_grad_enabled()))(_x(tc), 70)
    with tc.no_grad():
        y.sum().item()
    y.sum().backward()
    return sorted(set(modes)), len(modes), tc.is_grad_enabled()


def E12_callbacks(tc):
    engine = tc.autograd.Variable._execution_engine
    x, notes = _x(tc), []

    def hook(gradient):
        engine.queue_callback(lambda: notes.append("first"))
        engine.queue_callback(lambda: engine.queue_callback(lambda: notes.append("from a callback")))

    y = x * 2
    y.register_hook(hook)
    x.register_hook(lambda gradient: notes.append("leaf"))
    y.sum().backward()
    return notes, raised(lambda: engine.queue_callback(lambda: None), "during backward pass")


test_program = differential(globals())
