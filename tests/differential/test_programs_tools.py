"""Sections 11, 16 and 17 of the semantics: anomaly mode, checkpoints, the profiler."""

import contextlib

from tests.differential.observation import better, differential, raised, warned


def _x(tc):
    return tc.tensor([0.1, 0.2, 0.3], requires_grad=True)


def _body(x):
    return (x.sin() * x).exp()


# --- Anomaly mode
def N1_warns_when_constructed(tc):
    def use():
        with tc.autograd.detect_anomaly(check_nan=False):
            seen.append((tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()))

    seen = []
    messages = warned(use, "Anomaly Detection has been enabled")
    return messages, seen, tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()


def N2_function_or_context(tc):
    seen = []
    with tc.autograd.set_detect_anomaly(True, check_nan=False):
        seen.append((tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()))
    seen.append((tc.is_anomaly_enabled(), tc.is_anomaly_check_nan_enabled()))
    tc.autograd.set_detect_anomaly(True)
    seen.append(tc.is_anomaly_enabled())
    tc.autograd.set_detect_anomaly(False)
    return seen, tc.is_anomaly_enabled()


def _failing(tc):
    class Fails(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise KeyError("inside")

    return Fails


def N4_forward_traceback(tc):
    x, fails = _x(tc), _failing(tc)

    def with_record():
        with tc.autograd.set_detect_anomaly(True):
            raised(fails.apply(x).sum().backward)

    def run(made_inside):
        texts = []
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if made_inside:
                with tc.autograd.set_detect_anomaly(True):
                    y = fails.apply(x).sum()
                    try:
                        y.backward()
                    except KeyError:
                        texts.append("KeyError")
            else:
                y = fails.apply(x).sum()
                with tc.autograd.set_detect_anomaly(True):
                    try:
                        y.backward()
                    except KeyError:
                        texts.append("KeyError")
        text = "\n".join(str(warning.message) for warning in caught)
        head = "Error detected in FailsBackward. "
        return (
            texts,
            head + "Traceback of forward call that caused the error:" in text,
            head + "No forward pass information available" in text,
            "y = fails.apply(x).sum()" in text,
        )

    return run(True), run(False)


def N5_nan(tc):
    x = tc.tensor([-1.0, 2.0], requires_grad=True)

    class Nan(tc.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient * float("nan")

    def run(check_nan):
        import warnings

        with warnings.catch_warnings(), tc.autograd.set_detect_anomaly(True, check_nan):
            warnings.simplefilter("ignore")
            return raised(
                Nan.apply(x * 1, x * 2).sum().backward, "Function 'NanBackward' returned nan values in its 1th output."
            )

    return run(True), run(False)


def N6_parents(tc):
    import warnings

    x, fails = _x(tc), _failing(tc)

    class Outer(tc.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return fails.apply(gradient)

    with warnings.catch_warnings(record=True) as caught, tc.autograd.set_detect_anomaly(True):
        warnings.simplefilter("always")
        cotangent = tc.ones(3, requires_grad=True)
        (g,) = tc.autograd.grad(Outer.apply(x), x, cotangent, create_graph=True)
        with contextlib.suppress(KeyError):
            g.sum().backward()
    texts = [str(warning.message) for warning in caught]
    return len(texts), "Error detected in FailsBackward" in texts[0], "induced by OuterBackward" in texts[1]


# --- Checkpoints
def K1_misuse(tc):
    x, checkpoint = _x(tc), tc.utils.checkpoint.checkpoint
    return (
        warned(lambda: checkpoint(_body, x), "the use_reentrant parameter should be passed explicitly"),
        raised(lambda: checkpoint(_body, x, use_reentrant=True, foo=1), "Unexpected keyword arguments: foo"),
        raised(lambda: checkpoint(_body, x, use_reentrant=True, debug=True), "only supported when use_reentrant=False"),
        raised(lambda: checkpoint(_body, x, use_reentrant=False, determinism_check="so"), "should be one of"),
        raised(
            lambda: checkpoint(_body, x, use_reentrant=False, debug=True, context_fn=lambda: None),
            "debug=True is incompatible with non-default context_fn",
        ),
    )


def K2_reentrant(tc):
    x, checkpoint = _x(tc), tc.utils.checkpoint.checkpoint
    checkpoint(_body, x, use_reentrant=True).sum().backward()
    return (
        x.grad,
        warned(lambda: checkpoint(_body, tc.ones(2), use_reentrant=True), "None of the inputs have requires_grad=True"),
        raised(
            lambda: tc.autograd.grad(checkpoint(_body, x, use_reentrant=True).sum(), x),
            "utils.checkpoint is incompatible with .grad()",
        ),
        raised(
            checkpoint(lambda x: x.detach(), x, use_reentrant=True).sum().backward,
            "none of output has requires_grad=True",
        ),
        checkpoint(_body, x, use_reentrant=True).grad_fn.name(),
    )


def K3_counts_runs(tc):
    x, checkpoint = _x(tc), tc.utils.checkpoint.checkpoint
    runs = []

    def f(x):
        runs.append(1)
        return _body(x)

    y = checkpoint(f, x, use_reentrant=False)
    (g,) = tc.autograd.grad(y.sum(), x, retain_graph=True)
    after_one = len(runs)
    y.sum().backward()
    return g, x.grad, after_one, len(runs), y.grad_fn.name()


def K3_unpacked_twice(tc):
    x = _x(tc)
    y = tc.utils.checkpoint.checkpoint(_body, x, use_reentrant=False)
    node = y.grad_fn
    node.register_prehook(lambda _: None)
    return raised(y.sum().backward, "Unpack is being triggered for a tensor that was already unpacked once")


def K4_early_stop(tc):
    x, tools = _x(tc), tc.utils.checkpoint
    shown = []
    for early in (True, False):
        ends = []

        def f(x, ends=ends):
            y = x.exp().sin()
            ends.append(1)
            return y

        with tools.set_checkpoint_early_stop(early):
            y = tools.checkpoint(f, x, use_reentrant=False)
        y.sum().backward()
        shown.append(len(ends))
    return shown


def _changing(first, second):
    runs = []

    def f(x):
        runs.append(1)
        return first(x) if len(runs) == 1 else second(x)

    return f


def K5_determinism(tc):
    x, tools = _x(tc), tc.utils.checkpoint

    def run(first, second, fragment, **options):
        early = options.pop("early", True)
        with tools.set_checkpoint_early_stop(early):
            y = tools.checkpoint(_changing(first, second), x, use_reentrant=False, **options)
        return raised(y.sum().backward, fragment)

    one, two = (lambda x: x.sin()), (lambda x: x.sin().cos())
    double = lambda x: x.double().sin()  # noqa: E731
    return (
        run(two, one, "A different number of tensors was saved"),
        run(one, two, "nothing"),
        run(one, two, "trying to save more tensors during recomputation", early=False),
        run(one, double, "have different metadata than during the forward pass"),
        run(one, double, "nothing", determinism_check="none"),
    )


def K7_nested(tc):
    x, checkpoint = _x(tc), tc.utils.checkpoint.checkpoint
    runs = []

    def inner(x):
        runs.append("inner")
        return x.sin().exp()

    def outer(x):
        runs.append("outer")
        return checkpoint(inner, x.cos(), use_reentrant=False).exp()

    y = checkpoint(outer, x, use_reentrant=False)
    y.sum().backward()
    return x.grad, runs


def K9_sequential(tc):
    x, sequential = _x(tc), tc.utils.checkpoint.checkpoint_sequential
    sequential([tc.sin, tc.cos, tc.exp, tc.sin], 2, x, use_reentrant=False).sum().backward()
    return (
        x.grad,
        raised(lambda: sequential([tc.sin], 1, x, use_reentrant=False, foo=1), "Unexpected keyword arguments: foo"),
        warned(lambda: sequential([tc.sin, tc.cos], 2, x), "use_reentrant parameter should be passed explicitly"),
    )


def K10_selective(tc):
    x, tools = _x(tc), tc.utils.checkpoint
    calls = []

    def policy(ctx, op, *args, **kwargs):
        calls.append((ctx.is_recompute, op.name().partition(".")[0], len(args)))
        return op.name().startswith("aten::sin")

    def contexts(policy=policy):
        return tools.create_selective_checkpoint_contexts(policy)

    y = tools.checkpoint(_body, x, use_reentrant=False, context_fn=contexts).sum()
    y.backward(retain_graph=True)

    def written(x):
        y = x.sin()
        with tc.no_grad():
            y.mul_(2)
        return y.cos()

    def by_list():
        return tools.create_selective_checkpoint_contexts([tc.ops.aten.sin.default])

    return (
        x.grad,
        calls,
        raised(y.backward, "Trying to backward an extra time"),
        raised(
            tools.checkpoint(written, x, use_reentrant=False, context_fn=by_list).sum().backward,
            "Tensor cached during selective activation checkpoint has been mutated",
        ),
        raised(lambda: tools.create_selective_checkpoint_contexts([tc.mm]), "Expected op in `op_list`"),
        raised(lambda: tools.create_selective_checkpoint_contexts(3), "must be either a function or a list of ops"),
        [(policy.name, policy.value) for policy in tools.CheckpointPolicy],
    )


def K11_group(tc):
    x, tools = _x(tc), tc.utils.checkpoint
    runs = []

    def f(x):
        runs.append(1)
        return x.sin().exp(), x.cos().exp()

    a, b = tools.checkpoint(f, x, use_reentrant=False)
    with tools.GraphExecGroup():
        a.sum().backward()
        b.sum().backward()

    def nested():
        with tools.GraphExecGroup(), tools.GraphExecGroup():
            pass

    def overlapping():
        with tools.GraphExecGroup():
            y = tools.checkpoint(_body, x, use_reentrant=False).sum()
            y.backward(retain_graph=True)
            y.backward()

    return x.grad, len(runs), raised(nested, "cannot be nested"), raised(overlapping, "already unpacked once")


def K12_helpers(tc):
    x, tools = _x(tc), tc.utils.checkpoint
    (y, number) = tools.detach_variable((x, 3))
    return (
        y.requires_grad,
        y.is_leaf,
        number,
        raised(lambda: tools.detach_variable(x), "Only tuple of tensors is supported"),
        issubclass(tools.CheckpointError, RuntimeError),
        len(tools.noop_context_fn()),
    )


# --- The profiler
def _profiled(tc, run, **options):
    with tc.autograd.profiler.profile(**options) as prof:
        run()
    return prof


def P2_names(tc):
    x = tc.ones(3, 3, requires_grad=True)
    y = (x @ x).exp().sum()
    prof = _profiled(tc, lambda: y.backward())
    names = [event.name for event in prof.function_events if "::" in event.name or "Backward" in event.name]
    names = [name for name in names if not name.startswith("aten::")]
    forward = [event.name for event in _profiled(tc, lambda: (x @ x).exp()).function_events]
    return names, [name for name in forward if name != "aten::resolve_conj"]


def P3_sequence_numbers(tc):
    x = tc.ones(3, requires_grad=True)
    events = _profiled(tc, lambda: x.exp().sum().backward()).function_events
    (forward,) = [event for event in events if event.name == "aten::exp"]
    backward = [event for event in events if event.name.endswith("ExpBackward0")]
    leaf = [event.sequence_nr for event in events if event.name.endswith("AccumulateGrad")]
    return (
        [event.sequence_nr == forward.sequence_nr for event in backward],
        [event.fwd_thread == forward.thread for event in backward],
        forward.fwd_thread,
        leaf,
    )


def P4_record_function(tc):
    x, profiler = tc.ones(3), tc.autograd.profiler

    @profiler.record_function("decorated")
    def f():
        x.exp()

    def run():
        with profiler.record_function("outer"), profiler.record_function("inner"):
            x.exp()
        f()

    events = _profiled(tc, run).function_events
    return [(event.name, event.cpu_parent and event.cpu_parent.name) for event in events]


def P5_averages(tc):
    x = tc.ones(3)
    averages = _profiled(tc, lambda: [x.exp() for _ in range(3)]).key_averages()
    return [(average.key, average.count, average.cpu_time_total >= average.cpu_time) for average in averages]


def P6_shapes_and_flops(tc):
    a, b = tc.ones(2, 3), tc.ones(3, 5)
    events = _profiled(tc, lambda: tc.mm(a, b), record_shapes=True, with_flops=True).function_events
    return [(event.name, event.input_shapes, event.flops) for event in events if event.name == "aten::mm"]


def P1_misuse(tc):
    prof = tc.autograd.profiler.profile()
    with prof:
        again = raised(prof.__enter__, "Profiler context manager is not reentrant")
        tc.ones(2).exp()
    unknown = raised(lambda: prof.key_averages().table(sort_by="nonesuch"))[0]
    return again, unknown, str(prof) == prof.table(), tc.autograd.profiler._format_time(1500) if False else None


def P7_queries(tc):
    profiler = tc.autograd.profiler
    return better(
        profiler.kineto_available(),
        torch=True,
        wengert=False,
        why="Kineto is PyTorch's own library; there is none here",
    )


test_program = differential(globals())
