"""Short programs that enter every mode, level and hook there is, and what must be as before when one is left."""

import contextlib
import copy
import inspect
import io
import pickle
import warnings

import numpy as np

import wengert as wg
from wengert import _C
from wengert.autograd import Function, forward_ad, functional, graph, profiler
from wengert.autograd._graph.versions import _unsafe_preserve_version_counter
from wengert.func import _frames
from wengert.func._frames import ForwardFrame, ReverseFrame, VmapFrame
from wengert.utils._checkpoint.groups import active_group
from wengert.utils._mode_utils import no_dispatch
from wengert.utils._python_dispatch import TorchDispatchMode
from wengert.utils.checkpoint import (
    GraphExecGroup,
    checkpoint,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)


def leaf(*shape):
    return wg.ones(*(shape or (2,))).requires_grad_()


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x


class Passes(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Named(wg.Tensor):
    pass


def backward_of_a_sum():
    x = leaf()
    (x * x + x.exp()).sum().backward()


def passes_that_are_left():
    """In the middle of a graph, with nodes that have run and nodes that have not."""
    x = leaf()
    y = x * x

    def stop(gradient):
        raise KeyError

    y.register_hook(stop)
    z = (y.exp() + y.sin()) * x
    for _ in range(40):
        z = z * x + x
    for inputs in (None, [x]):
        with contextlib.suppress(KeyError):
            z.sum().backward(inputs=inputs, retain_graph=True)
    y.detach().requires_grad_().sum().backward()


def second_derivatives():
    x = leaf()
    (g,) = wg.autograd.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()


def views_and_writes():
    y = leaf(3, 2) * 2
    v = y[1:].t()
    v.mul_(3)
    y.sum().backward()


def index_writes():
    x, o = leaf(), wg.zeros(4)
    o[0] = x[0]
    o[1:3] = x
    o[[0, 3]] = x * 2
    o[wg.tensor([True, False, False, True])] = 1.0
    o.sum().backward()


def joined_and_split():
    x = leaf(4)
    a, b = wg.cat([x, x * 2]).chunk(2)
    wg.stack([a, b]).sum(0).prod().backward()


def linear_algebra():
    a = (wg.eye(3) * 2).requires_grad_()
    (wg.linalg.cholesky(a).sum() + wg.linalg.solve(a, wg.ones(3)).sum() + (a @ a).sum()).backward()


def larger_than_a_slab():
    x = leaf(200, 40)
    (x @ x.t()).tanh().mean().backward()


def no_grad():
    x = leaf()
    with wg.no_grad():
        x * 2
        with wg.enable_grad():
            y = x * 2
    y.sum().backward()


def decorated():
    @wg.no_grad()
    def f(x):
        return x * 2

    f(leaf())


def set_grad_enabled():
    with wg.set_grad_enabled(False):
        leaf() * 2


def inference_mode():
    with wg.inference_mode():
        wg.ones(2) * 2
        with wg.inference_mode(False):
            leaf() * 2


def switches():
    with (
        wg.autograd.set_multithreading_enabled(False),
        wg.autograd.set_strict_singular(True),
        wg.autograd.set_debug_mode(True),
        wg.autograd._force_original_view_tracking(True)
        if hasattr(wg.autograd, "_force_original_view_tracking")
        else contextlib.nullcontext(),
    ):
        leaf()[0].backward()


def anomaly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with wg.autograd.detect_anomaly(), wg.autograd.set_detect_anomaly(True):
            (leaf() * 2).sum().backward()


def dual_levels():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(wg.ones(2), wg.ones(2))
        forward_ad.unpack_dual((x * x)[0])


def saved_tensors_hooks():
    x = leaf()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t), graph.save_on_cpu():
        y = x * x
    y.sum().backward()


def disabled_hooks():
    with graph.disable_saved_tensors_hooks("no"), graph.disable_saved_tensors_hooks("neither"):
        leaf() * 2


def mutation_of_saved_tensors():
    x = leaf() * 1
    with graph.allow_mutation_on_saved_tensors():
        y = x * x
        x.add_(1)
        y.sum().backward()


def custom_function():
    Cube.apply(leaf()).sum().backward()


def hooks():
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_prehook(lambda g: g)
    y.grad_fn.register_hook(lambda a, b: None)
    x.register_post_accumulate_grad_hook(lambda p: None)
    y.sum().backward()


def checkpoints():
    checkpoint(lambda t: t.exp() * t, leaf(), use_reentrant=False).sum().backward()


def reentrant_checkpoints():
    checkpoint(lambda t: t.exp() * t, leaf(), use_reentrant=True).sum().backward()


def func_grad():
    wg.func.grad(lambda t: (t * t).sum())(wg.ones(2))


def func_hessian():
    wg.func.hessian(lambda t: (t**3).sum())(wg.ones(2))


def func_vmap():
    wg.func.vmap(lambda t: t * 2 + t.sum())(wg.ones(2, 3))


def func_vmap_grad():
    wg.func.vmap(wg.func.grad(lambda t: (t * t).sum()))(wg.ones(2, 3))


def func_jvp():
    wg.func.jvp(lambda t: t * t, (wg.ones(2),), (wg.ones(2),))


def functional_jacobian():
    functional.jacobian(lambda t: t * t, wg.ones(2))


def profiles():
    with profiler.profile(record_shapes=True), profiler.record_function("part"):
        (leaf() * 2).sum().backward()


def profiled_steps():
    with wg.profiler.profile(schedule=wg.profiler.schedule(wait=1, warmup=0, active=1)) as steps:
        for _ in range(3):
            wg.ones(2) * 2
            steps.step()


def frames():
    with VmapFrame(2, "error"), ReverseFrame(), ForwardFrame():
        pass


def frames_where_nothing_is_recorded():
    with wg.inference_mode(), wg.autograd.forward_ad._set_fwd_grad_enabled(False), ForwardFrame(), ReverseFrame():
        pass


def frames_again():
    with VmapFrame(2, "error"), ReverseFrame():
        before = _frames.remembered()
    with before(), before():
        pass


class Linear:
    """As much of a module as `functional_call` needs."""

    def __init__(self):
        self._parameters = {"weight": wg.ones(2)}
        self._buffers = {"count": wg.zeros(())}
        self._modules = {}

    def __call__(self, x):
        self._buffers["count"] = self._buffers["count"] + 1
        return x * self._parameters["weight"]


LINEAR = Linear()


def functional_call():
    wg.func.functional_call(LINEAR, {"weight": wg.zeros(2), "count": wg.ones(())}, (wg.ones(2),))


def checkpoint_settings():
    with set_checkpoint_early_stop(False), set_checkpoint_debug_enabled(True), GraphExecGroup():
        pass


def modes_left_out():
    with Passes(), Passes(), no_dispatch():
        wg.ones(2) * 2


def forked_random_numbers():
    with wg.random.fork_rng():
        pass


def hidden_versions():
    with _unsafe_preserve_version_counter(HIDDEN):
        HIDDEN.add_(1)


HIDDEN = wg.zeros(2)


def dispatch_modes():
    with Passes(), Passes():
        (leaf() * 2).sum().backward()


def subclasses():
    wg.ones(2).as_subclass(Named) * 2 + 1


def numpy_and_back():
    x = wg.tensor(np.ones(3))
    x.numpy()
    np.from_dlpack(x)
    wg.from_dlpack(np.ones(2))
    wg.tensor([[1.0, 2.0], [3.0, 4.0]]).tolist()


def random_numbers():
    wg.rand(3).uniform_(0, 1).normal_()
    wg.randperm(4)


def shown_and_copied():
    x = leaf(2, 2)
    repr(x * 2)
    copy.deepcopy(x)
    pickle.load(io.BytesIO(pickle.dumps(x.detach())))


def a_step_of_an_optimizer():
    x = leaf()
    optimizer = wg.optim.Adam([x])
    (x * x).sum().backward()
    optimizer.step()


PROGRAMS = {
    name: f
    for name, f in list(globals().items())
    if inspect.isfunction(f) and f.__module__ == __name__ and name not in ("leaf", "state")
}


def state():
    """Every mode, level and hook of this thread."""
    try:
        _C._autograd._pop_saved_tensors_default_hooks()
        hooks_are_on = True
    except RuntimeError:
        hooks_are_on = False
    return {
        "grad": _C.is_grad_enabled(),
        "forward grad": _C._is_fwd_grad_enabled(),
        "inference": _C.is_inference_mode_enabled(),
        "multithreading": _C._is_multithreading_enabled(),
        "view replay": _C._is_view_replay_enabled(),
        "grad layout": _C._is_grad_layout_enforcement_enabled(),
        "strict": _C._is_strict_singular(),
        "debug": _C._is_debug_mode(),
        "anomaly": (_C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()),
        "hooks": hooks_are_on,
        "hooks disabled": _C._autograd._saved_tensors_hooks_get_disabled_error_message(),
        "dual level": _C._current_dual_level(),
        "floor": _C._Switch("forward_floor", 0)._previous,
        "modes": _C._dispatch_modes(),
        "profiling": _C._is_profiling(),
        "write observer": _C._autograd._set_write_observer(None),
        "frames": len(_frames.running_frames()),
        "parameters": [id(LINEAR._parameters["weight"]), id(LINEAR._buffers["count"])],
        "checkpoints": (
            set_checkpoint_early_stop.or_else(None),
            set_checkpoint_debug_enabled.or_else(None),
            active_group(),
        ),
        "version": HIDDEN._version,
    }
