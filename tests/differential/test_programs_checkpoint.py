"""Section 16 of the semantics: checkpoints."""

from tests.differential.observation import differential, raised, warned


def _x(tc):
    return tc.tensor([0.1, 0.2, 0.3], requires_grad=True)


def _body(x):
    return (x.sin() * x).exp()


def _changing(first, second):
    runs = []

    def f(x):
        runs.append(1)
        return first(x) if len(runs) == 1 else second(x)

    return f


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


test_program = differential(globals())
