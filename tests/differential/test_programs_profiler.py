"""Section 17 of the semantics: the profiler."""

from tests.differential.observation import better, differential, raised


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
