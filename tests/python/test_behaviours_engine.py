"""Memory, threads, hooks and messages, as people asked for them of other systems."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import copy
import gc
import os
import pickle
import threading
import weakref

import pytest

import wengert as wg
from wengert.autograd import Function, grad, graph, set_debug_mode, set_detect_anomaly
from wengert.utils.checkpoint import CheckpointError, checkpoint


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)


# --- Memory and lifetime
class Noted:
    pass


@pytest.mark.filterwarnings("ignore:.*create_graph=True:UserWarning")
def test_M1_recorded_backward_frees_everything():
    noted = Noted()
    gone = weakref.ref(noted)
    x = wg.ones(3, requires_grad=True)
    x.noted = noted
    y = (x * x).exp().sum()
    y.backward(create_graph=True)
    del x, y, noted
    gc.collect()
    assert gone() is None


def test_M2_hooks_inner_gradients_and_closures_do_not_leak():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.closure = lambda: ctx
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            with wg.enable_grad():
                x = ctx.saved_tensors[0]
                inner = x.detach().requires_grad_()
                return g * grad((inner * inner).sum(), inner)[0] * x

    def once():
        noted = Noted()
        x = wg.ones(3, requires_grad=True)
        y = Inner.apply(x * 1)
        y.register_hook(lambda g: g * (1 if noted and y is not None else 0))
        (g,) = grad(y.sum(), x, create_graph=True)
        g.register_hook(lambda h: h if noted else None)
        return weakref.ref(noted)

    gone = once()
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("backward", [False, True])
def test_M3_a_chain_of_a_million_nodes(backward):
    x = wg.ones((), requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y + 1
    if backward:
        y.backward()
        assert x.grad.item() == 1
    del y


def test_M3_a_wide_graph():
    x = wg.ones((), requires_grad=True)
    parts = [x * 1 for _ in range(200_000)]
    wg.stack(parts).sum().backward()
    assert x.grad.item() == 200_000


def test_M4_after_an_exception_engine_and_graph_work(x):
    y = (x * x).sum()
    fail = y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward(retain_graph=True)
    fail.remove()
    y.backward()
    assert x.grad.tolist() == [2, 4]


# --- Engine
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_E1_backward_in_a_forked_child(x):
    (x * x).sum().backward()
    child = os.fork()
    if child == 0:
        (x * x).sum().backward()
        os._exit(0 if x.grad.tolist() == [4, 8] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_E1_several_threads_add_to_one_gradient(x):
    def work():
        for _ in range(200):
            (x * x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [1600, 3200]


def test_E1_sums_have_a_fixed_order_and_small_work_starts_no_thread():
    x = wg.tensor([0.1, 0.7, 1e-9], requires_grad=True)
    before = set(os.listdir("/proc/self/task"))
    results = {tuple(grad(sum(wg.sin(x * k) / (k + 1) for k in range(50)).sum(), x)[0].tolist()) for _ in range(10)}
    assert len(results) == 1
    assert set(os.listdir("/proc/self/task")) <= before  # none was started; one of another test may have ended


# --- Hooks
def test_K1_order_of_hooks_and_a_hook_on_a_requested_input(x):
    seen = []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda g: seen.append("node"))
    y.grad_fn.register_hook(lambda i, o: seen.append("after"))
    y.sum().backward()
    assert seen == ["tensor", "node", "after"]
    seen.clear()
    x.register_hook(lambda g: seen.append("leaf"))
    grad((x * x).sum(), x)
    assert seen == ["leaf"]


def test_K1_a_hook_that_can_never_fire_says_so(x):
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        x.detach().register_hook(print)


# --- Messages
def test_G1_leaving_a_hook_scope_while_unpacking(x):
    scope = graph.saved_tensors_hooks(lambda t: t, lambda t: (scope.__exit__(None, None, None), t)[1])
    with scope:  # left again inside the pass, which ends what it changes
        (x * 2).exp().log().sum().backward()
    assert x.grad.tolist() == pytest.approx([2, 2])


def test_G2_checkpoint_mismatch_names_operation_and_line(x):
    runs = []

    def block(t):
        runs.append(1)
        y = t.exp()
        if len(runs) == 1:
            y = y.sin()
        return y.sum()

    y = checkpoint(block, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match=r"Only the forward pass saved.*'sin' at .*test_behaviours_engine\.py"):
        y.backward()


def test_G3_anomaly_mode_points_at_the_line_that_made_the_nan(x):
    def loss():
        return ((x - 5).sqrt() * 2).sum()  # here

    with set_detect_anomaly(True):
        z = loss()
        with pytest.warns(UserWarning, match="# here"), pytest.raises(RuntimeError, match="nan"):
            z.backward()


def test_G4_messages_name_the_node_and_the_write(x):
    y = (x.exp() * 2).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=r"a second time[\s\S]*The first node .* is \w+Backward0"):
        y.backward()
    set_debug_mode(True)
    try:
        z = x * 1
        w = z.exp()
        w.mul_(2)
        with pytest.raises(RuntimeError, match=r"inplace operation[\s\S]*mul_[\s\S]*test_behaviours_engine\.py"):
            w.sum().backward()
    finally:
        set_debug_mode(False)


def test_G5_an_integer_asked_for_a_gradient():
    with pytest.raises(RuntimeError, match="floating point"):
        wg.tensor([1, 2], requires_grad=True)
    with pytest.raises(RuntimeError, match="floating point"):
        wg.func.grad(lambda n: (n * 1.0).sum())(wg.tensor([1, 2]))


def test_G6_a_stashed_intermediate_never_drops_a_term(x):
    class Stash(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.inner = x.exp()  # an intermediate that backward uses, unknown to autograd
            return ctx.inner * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.inner * 2

    y = Stash.apply(x).sum()
    (g,) = grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError):
        grad(g.sum(), x)


def test_G7_copies_of_results(x):
    y = x * 2
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly"):
        copy.deepcopy(y)
    again = pickle.loads(pickle.dumps(y))
    assert again.is_leaf
    assert again.tolist() == y.tolist()
