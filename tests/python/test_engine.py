"""The engine: one test or more for each row E1-E14 of the table of features, and G16-G20 inside passes."""

import gc
import itertools
import logging
import os
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest

import wengert as wg
from wengert import _C
from wengert.autograd import Function, Variable, backward, grad, set_multithreading_enabled

engine = Variable._execution_engine


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


class Noting(Function):
    """Passes its input through and appends its name to a list in backward."""

    @staticmethod
    def forward(ctx, x, name, notes):
        ctx.name, ctx.notes = name, notes
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        ctx.notes.append(ctx.name)
        return gradient, None, None


class Nested(Function):
    """Starts a pass inside its backward, as many levels deep as asked for."""

    @staticmethod
    def forward(ctx, x, levels, note):
        ctx.levels, ctx.note = levels, note
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        ctx.note(ctx.levels)
        if ctx.levels:
            with wg.enable_grad():
                leaf = wg.ones(2, requires_grad=True)
                Nested.apply(leaf, ctx.levels - 1, ctx.note).sum().backward()
            gradient = gradient * leaf.grad
        return gradient, None, None


def test_e1_a_node_runs_when_all_its_gradients_are_there_later_ones_first(x):
    notes = []
    shared = Noting.apply(x, "shared", notes)
    first = Noting.apply(shared, "first", notes)
    second = Noting.apply(shared, "second", notes)
    (first + second).sum().backward()
    assert notes == ["second", "first", "shared"]


def test_e1_accumulation_comes_as_soon_as_it_is_ready(x):
    notes = []
    early = Noting.apply(x * 1, "early", notes)
    leaf = wg.ones(2, requires_grad=True)
    leaf.register_post_accumulate_grad_hook(lambda leaf: notes.append("leaf"))
    (early + leaf).sum().backward()
    assert notes == ["leaf", "early"]


def test_e1_set_sequence_nr_changes_the_order(x):
    notes = []
    first, second = Noting.apply(x, "first", notes), Noting.apply(x, "second", notes)
    first.grad_fn._set_sequence_nr(second.grad_fn._sequence_nr() + 1)
    (first + second).sum().backward()
    assert notes == ["first", "second"]


def test_e2_the_caller_runs_the_nodes_and_no_thread_is_started(x):
    started = _C._worker_threads_started()
    idents = []
    x.register_hook(lambda gradient: idents.append(threading.get_ident()))
    (x * 2).sum().backward()
    assert idents == [threading.get_ident()]
    assert _C._worker_threads_started() == started


@pytest.mark.parametrize("levels", [3, 60])
def test_e4_shallow_nesting_stays_on_the_thread(x, levels):
    idents = []
    Nested.apply(x, levels, lambda level: idents.append(threading.get_ident())).sum().backward()
    assert idents == [threading.get_ident()] * (levels + 1)
    assert x.grad.tolist() == [1.0, 1.0]


def test_e4_deep_nesting_continues_on_pool_threads(x):
    idents = []
    Nested.apply(x, 200, lambda level: idents.append(threading.get_ident())).sum().backward()
    groups = [idents[0]] + [b for a, b in itertools.pairwise(idents) if a != b]
    sizes = [idents.count(ident) for ident in groups]
    assert sizes == [61, 61, 61, 18]
    assert x.grad.tolist() == [1.0, 1.0]


def test_e4_two_thousand_levels(x):
    levels = []
    Nested.apply(x, 2000, levels.append).sum().backward()
    assert levels == list(range(2000, -1, -1))
    assert x.grad.tolist() == [1.0, 1.0]


def test_e4_pool_threads_are_reused(x):
    Nested.apply(x, 200, id).sum().backward()
    started = _C._worker_threads_started()
    for _ in range(3):
        Nested.apply(x, 200, id).sum().backward()
    assert _C._worker_threads_started() == started


def test_e4_grad_in_a_hook_of_a_shared_graph(x):
    inner = (x * x).sum()
    found = []
    y = x * 3
    y.register_hook(lambda gradient: found.append(grad(inner, x, retain_graph=True)[0].tolist()))
    y.sum().backward()
    assert found == [[2.0, 4.0]]
    inner.backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_e4_a_pass_over_the_graph_that_is_just_running(x):
    """The inner pass meets nodes that the outer one has claimed."""
    y = x * 2
    z = y.exp().sum()
    seen = []

    def hook(gradient):
        if not seen:  # the inner pass calls it, too
            seen.append(None)
            seen.append(grad(z, x, retain_graph=True)[0].tolist())

    y.register_hook(hook)
    z.backward(retain_graph=True)
    assert seen == [None, x.grad.tolist()]


def test_e5_a_nested_pass_precedes_the_rest_of_the_outer_one(x):
    notes = []
    early = Noting.apply(x, "outer early", notes)
    late = Noting.apply(x, "outer late", notes)

    def nested(gradient):
        inner = Noting.apply(wg.ones(2, requires_grad=True), "inner 1", notes)
        Noting.apply(inner, "inner 2", notes).sum().backward()

    with wg.enable_grad():
        late.register_hook(lambda gradient: wg.enable_grad()(nested)(gradient))
    (early + late).sum().backward()
    assert notes == ["inner 2", "inner 1", "outer late", "outer early"]


class OopsError(Exception):
    pass


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise OopsError("as it was")


def test_e6_errors_keep_their_type_and_traceback_and_stop_the_pass(x):
    notes = []
    early = Noting.apply(x, "early", notes)
    with pytest.raises(OopsError, match="as it was") as caught:
        (early + Fails.apply(x)).sum().backward()
    assert any(entry.name == "backward" and "test_engine" in str(entry.path) for entry in caught.traceback)
    assert notes == []
    assert _C._current_graph_task_id() == -1
    assert _C._current_autograd_node() is None
    early.sum().backward()
    assert notes == ["early"]
    assert x.grad.tolist() == [1.0, 1.0]


def test_e6_errors_come_back_from_pool_threads(x):
    def fail(level):
        if level == 0:
            raise OopsError("far down")

    with pytest.raises(OopsError, match="far down"):
        Nested.apply(x, 150, fail).sum().backward()
    Nested.apply(x, 150, id).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_e6_the_validity_of_checkpoints_is_restored(x):
    seen = []

    def look(gradient):
        seen.append(engine.is_checkpoint_valid())
        raise OopsError

    for run in (lambda y: grad(y.sum(), x), lambda y: y.sum().backward()):
        y = x * 2
        y.register_hook(look)
        with pytest.raises(OopsError):
            run(y)
        assert engine.is_checkpoint_valid()
    assert seen == [False, True]


def test_e6_python_nodes_die_while_an_error_unwinds():
    """No deadlock and no leak when the graph's last owner is the failing pass, in several threads at once."""

    class Heavy(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = Dies()
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    died = []

    class Dies:
        def __del__(self):
            died.append(wg.ones(1).sum().item())

    def run():
        for _ in range(20):
            leaf = wg.ones(1, requires_grad=True)
            with pytest.raises(OopsError):
                Heavy.apply(Fails.apply(Heavy.apply(leaf))).sum().backward()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    gc.collect()
    assert len(died) == 160


def test_e7_warnings_of_a_pass_reach_the_caller(x):
    def warn(level):
        if level in (0, 100):
            warnings.warn(f"at level {level}", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="at level") as caught:
        Nested.apply(x, 150, warn).sum().backward()
    assert sorted(str(w.message) for w in caught) == ["at level 0", "at level 100"]


def test_e7_warnings_of_the_core_on_a_pool_thread_name_the_callers_line():
    program = """
        import warnings
        import wengert as wg
        from wengert.autograd import Function

        class Nested(Function):
            @staticmethod
            def forward(ctx, x, levels):
                ctx.levels = levels
                return x.clone()
            @staticmethod
            def backward(ctx, gradient):
                with wg.enable_grad():
                    leaf = wg.ones(1, requires_grad=True)
                    if ctx.levels:
                        Nested.apply(leaf, ctx.levels - 1).sum().backward()
                    else:
                        (leaf * leaf).sum().backward(create_graph=True)  # the core warns of the cycle
                return gradient, None

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Nested.apply(wg.ones(1, requires_grad=True), 100).sum().backward()
        assert ["reference cycle" in str(w.message) for w in caught] == [True], caught
        with warnings.catch_warnings():
            warnings.simplefilter("error")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_e8_thread_local_state_goes_along(x):
    packed, seen = [], []

    def note(level):
        seen.append(
            (
                threading.get_ident(),
                wg.is_grad_enabled(),
                _C._is_fwd_grad_enabled(),
                _C._is_multithreading_enabled(),
                _C._is_torch_function_enabled(),
                _C._is_key_in_tls("here") and _C._get_obj_in_tls("here"),
            )
        )

    _C._stash_obj_in_tls("here", "stashed")
    with (
        wg.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t),
        wg.autograd.forward_ad._set_fwd_grad_enabled(False),
        wg.DisableTorchFunctionSubclass(),
    ):
        y = Nested.apply(x, 80, lambda level: (note(level), wg.enable_grad()(lambda: x * x)()))
        y.sum().backward()
    assert len({entry[0] for entry in seen}) == 2
    assert {entry[1:] for entry in seen} == {(False, False, True, False, "stashed")}
    assert len(packed) == 2 * 81


def test_e8_grad_mode_of_a_pass_is_create_graph_on_every_thread(x):
    modes = []
    y = Nested.apply(x, 0, lambda level: modes.append(wg.is_grad_enabled())).sum()
    for create_graph in (False, True):
        with wg.set_grad_enabled(not create_graph):
            grad(y, x, create_graph=create_graph, retain_graph=True)
            assert wg.is_grad_enabled() is not create_graph
    assert modes == [False, True]


def test_e8_stashed_objects():
    marker = object()
    _C._stash_obj_in_tls("marker", marker)
    assert _C._is_key_in_tls("marker")
    assert _C._get_obj_in_tls("marker") is marker
    assert not _C._is_key_in_tls("other")
    with pytest.raises(RuntimeError, match="nothing is stashed"):
        _C._get_obj_in_tls("other")
    elsewhere = []
    thread = threading.Thread(target=lambda: elsewhere.append(_C._is_key_in_tls("marker")))
    thread.start()
    thread.join()
    assert elsewhere == [False]


def test_e9_the_lock_is_free_while_the_core_works():
    """Another Python thread makes progress while a pass of C++ nodes runs."""
    a = wg.ones(1500, 1500, requires_grad=True)
    y = a
    for _ in range(20):
        y = (y * 1.0001).tanh()
    y = y.sum()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            stop.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    y.backward()
    progress = len(ticks) - before
    stop.set()
    thread.join()
    assert progress >= 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("before", ["nothing", "backward", "deep", "parallel"])
def test_e10_fork(before):
    """A forked child runs backward, whatever the parent ran before; with several threads, too."""
    program = f"""
        import os, threading
        import wengert as wg
        from wengert.autograd import Function

        class Nested(Function):
            @staticmethod
            def forward(ctx, x, levels):
                ctx.levels = levels
                return x.clone()
            @staticmethod
            def backward(ctx, gradient):
                if ctx.levels:
                    with wg.enable_grad():
                        Nested.apply(wg.ones(1, requires_grad=True), ctx.levels - 1).sum().backward()
                return gradient, None

        def deep():
            x = wg.ones(1, requires_grad=True)
            Nested.apply(x, 150).sum().backward()
            assert x.grad.item() == 1

        def parallel():
            wg.set_num_threads(3)
            x = wg.ones(300, 300, requires_grad=True)
            sum((x * i).tanh().exp().sum() for i in range(8)).backward()
            assert x.grad is not None

        def everything():
            x = wg.ones(2, requires_grad=True)
            (x * x).sum().backward()
            assert x.grad.tolist() == [2, 2]
            deep()
            parallel()

        before = {before!r}
        if before == "backward":
            (wg.ones(2, requires_grad=True) * 2).sum().backward()
        elif before == "deep":
            deep()
        elif before == "parallel":
            parallel()
        pid = os.fork()
        if pid == 0:
            try:
                everything()
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        everything()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_e10_fork_while_other_threads_are_in_the_core():
    """The locks of the core are free in the child, and counts are those of one thread again."""
    program = """
        import os, threading
        import wengert as wg

        shared = wg.ones(50, requires_grad=True)
        stop = threading.Event()

        def work():
            while not stop.is_set():
                y = shared
                for _ in range(30):
                    y = (y * 1.01).tanh()
                y.sum().backward()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                x = wg.ones(3, requires_grad=True)
                ((x * x).sum() + (shared * shared).sum()).backward()
                os._exit(0 if x.grad.tolist() == [2, 2, 2] else 1)
            assert os.waitpid(pid, 0)[1] == 0
        stop.set()
        for t in threads:
            t.join()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


def test_e12_execution_engine(x):
    y = (x * x).sum()
    results = engine.run_backward((y,), (wg.tensor(1.0),), True, False, (x,), allow_unreachable=True)
    assert results[0].tolist() == [2.0, 4.0]
    assert x.grad is None
    assert engine.run_backward([y], [None], keep_graph=True, create_graph=False, accumulate_grad=True) is None
    assert x.grad.tolist() == [2.0, 4.0]
    engine.backward(y, retain_graph=True)
    assert engine.grad(y, x)[0].tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [4.0, 8.0]
    assert engine.is_checkpoint_valid()
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        engine.run_backward((y,), (None, None), True, False)
    with pytest.raises(RuntimeError, match="during backward pass"):
        engine.queue_callback(lambda: None)
    engine.set_num_threads(2)
    assert wg.get_num_threads() == 2
    engine.set_num_threads(1)


def test_e12_callbacks_run_once_at_the_end_of_their_pass(x):
    notes = []

    def hook(gradient):
        engine.queue_callback(lambda: notes.append("first"))
        engine.queue_callback(lambda: engine.queue_callback(lambda: notes.append("queued by a callback")))

    y = x * 2
    y.register_hook(hook)
    x.register_hook(lambda gradient: notes.append("leaf"))
    y.sum().backward()
    assert notes == ["leaf", "first", "queued by a callback"]


def test_e12_callbacks_of_nested_passes_are_their_own(x):
    notes = []

    def hook(gradient):
        engine.queue_callback(lambda: notes.append("outer"))
        with wg.enable_grad():
            inner = wg.ones(1, requires_grad=True) * 1
        inner.register_hook(lambda g: engine.queue_callback(lambda: notes.append("inner")))
        inner.backward()
        notes.append("inner is over")

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert notes == ["inner", "inner is over", "outer"]


def test_e12_errors_of_callbacks_keep_their_type(x):
    def fail():
        raise OopsError("in a callback")

    y = x * 2
    y.register_hook(lambda gradient: engine.queue_callback(fail))
    with pytest.raises(OopsError, match="in a callback"):
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2.0, 2.0]
    assert _C._current_graph_task_id() == -1


def test_e13_deep_graphs():
    x = wg.ones(1, requires_grad=True)
    y = x
    for _ in range(150_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1
    del y
    y = x
    for _ in range(150_000):
        y = y * 1
    del y


def test_e13_deep_graphs_of_custom_functions():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    x = wg.ones(1, requires_grad=True)
    y = x
    for _ in range(150_000):
        y = Same.apply(y)
    y.backward()
    assert x.grad.item() == 1
    del y
    gc.collect()


def test_e14_debug_log(x, caplog):
    y = (x * 2).sum()
    with caplog.at_level(logging.DEBUG, logger="wengert.autograd.graph"):
        y.backward(retain_graph=True)
    messages = [record.getMessage() for record in caplog.records if record.name == "wengert.autograd.graph"]
    assert len(messages) == 3
    assert "SumBackward0" in messages[0]
    assert "MulBackward0" in messages[1]
    assert "[2]" in messages[1]
    assert "AccumulateGrad" in messages[2]
    caplog.clear()
    y.backward()
    assert not caplog.records


def test_g16_pass_ids_increase(x):
    assert _C._current_graph_task_id() == -1
    ids = []
    y = x * 2
    y.register_hook(lambda gradient: ids.append(_C._current_graph_task_id()))
    y.sum().backward(retain_graph=True)
    grad(y.sum(), x)
    assert 0 <= ids[0] < ids[1]
    assert _C._current_graph_task_id() == -1


def test_g17_execution_order(x):
    with pytest.raises(RuntimeError, match="should only be called during"):
        _C._current_graph_task_execution_order()
    y = x.exp()
    left, right = y * 2, y * 3
    z = left + right
    orders = []
    z.register_hook(lambda gradient: orders.append(_C._current_graph_task_execution_order()))
    accumulator = y.grad_fn.next_functions[0][0]
    total = z.sum()
    with set_multithreading_enabled(False):
        total.backward(retain_graph=True)
        grad(total, [left], retain_graph=True)
    expected = [total.grad_fn, z.grad_fn, right.grad_fn, left.grad_fn, y.grad_fn, accumulator]
    assert orders[0] == expected
    assert orders[1] == [total.grad_fn, z.grad_fn, left.grad_fn]
    with pytest.raises(RuntimeError, match="multithreading disabled"):
        total.backward()


def test_g18_will_engine_execute_node(x):
    y = x.exp()
    z = y * 2
    elsewhere = x * 3
    accumulator = y.grad_fn.next_functions[0][0]
    with pytest.raises(RuntimeError, match="during the backward pass"):
        _C._will_engine_execute_node(y.grad_fn)
    with pytest.raises(RuntimeError, match="expects an grad_fn"):
        _C._will_engine_execute_node(x)
    answers = []

    def ask(gradient):
        nodes = (z.grad_fn, y.grad_fn, elsewhere.grad_fn)
        answers.append([_C._will_engine_execute_node(node) for node in nodes])

    y.register_hook(ask)
    z.sum().backward(retain_graph=True)
    grad(z.sum(), y, retain_graph=True)
    z.sum().backward(inputs=[x], retain_graph=True)
    assert answers == [[True, True, False]] * 3

    def ask_for_leaf(gradient):
        answers.append(_C._will_engine_execute_node(accumulator))

    z.register_hook(ask_for_leaf)
    with pytest.raises(RuntimeError, match="A leaf node was passed"):
        grad(z.sum(), x, retain_graph=True)
    z.sum().backward()
    assert answers[-2:] == [True, [True, True, False]]


def test_g19_g20_the_node_and_the_pass_that_run(x):
    seen = []
    y = x.exp()
    z = y * 2
    z.grad_fn.register_prehook(
        lambda gradients: seen.append((_C._current_autograd_node(), _C._autograd._get_current_graph_task_keep_graph()))
    )
    z.sum().backward(retain_graph=True)
    z.sum().backward()
    assert seen == [(z.grad_fn, True), (z.grad_fn, False)]
    assert _C._current_autograd_node() is None


def test_backward_twice_with_roots_that_are_ancestors(x):
    y = x * 2
    z = y * 3
    backward([z, y], [wg.ones(2), wg.ones(2)])
    assert x.grad.tolist() == [8.0, 8.0]
