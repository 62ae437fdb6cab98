"""The engine, when passes fail, warn or carry state along: rows E5-E8 of the table of features."""

import gc
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest

import wengert as wg
from tests.functions import Fails, Nested, Noting, OopsError
from wengert import _C
from wengert.autograd import Function, Variable, grad

engine = Variable._execution_engine


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


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


def test_e6_errors_keep_their_type_and_traceback_and_stop_the_pass(x):
    notes = []
    early = Noting.apply(x, "early", notes)
    with pytest.raises(OopsError, match="as it was") as caught:
        (early + Fails.apply(x)).sum().backward()
    assert any(
        entry.name == "backward" and str(entry.path).endswith("tests/functions.py") for entry in caught.traceback
    )
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
