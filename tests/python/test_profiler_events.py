"""What the profiler records: events and their names, numbers, nesting and threads; rows P2 to P5 of the table of
features.
"""

import threading

import pytest

import wengert as wg
from wengert.autograd.profiler import EventList, FunctionEvent, FunctionEventAvg, profile, record_function


@pytest.fixture
def x():
    return wg.ones(3, 3, requires_grad=True)


def names(prof):
    return [event.name for event in prof.function_events]


# --- P2
def test_p2_names(x):
    with profile() as prof:
        y = (x * 2).sum()
        y.backward()
    shown = names(prof)
    assert shown[:2] == ["aten::mul", "aten::sum"]
    backward = [name for name in shown[2:] if not name.startswith("aten::")]
    assert backward == [
        "autograd::engine::evaluate_function: SumBackward0",
        "SumBackward0",
        "autograd::engine::evaluate_function: MulBackward0",
        "MulBackward0",
        "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
        "torch::autograd::AccumulateGrad",
    ]


def test_p2_nested_operations(x):
    with profile() as prof:
        x @ x
    outer, inner = prof.function_events
    assert (outer.name, inner.name) == ("aten::matmul", "aten::mm")
    assert inner.cpu_parent is outer
    assert outer.cpu_children == [inner]


def test_p2_inplace_out_custom_and_undifferentiable(x):
    class Twice(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    out = wg.empty(3, 3)
    with profile() as prof:
        out.add_(1)
        wg.exp(out, out=out)
        out == out  # noqa: B015
        Twice.apply(x)
    assert [n for n in names(prof) if n != "aten::mul"] == ["aten::add_", "aten::exp", "aten::eq", "Twice"]


def test_p2_memory_events():
    with profile(profile_memory=True) as prof:
        y = wg.ones(1000).exp()
        del y
    memory = [event for event in prof.function_events if event.name == "[memory]"]
    assert any(event.cpu_memory_usage <= -4000 for event in memory)


# --- P3
def test_p3_forward_and_backward_share_a_number(x):
    with profile() as prof:
        y = x.exp()
        y.sum().backward()
    events = prof.function_events
    (forward,) = [e for e in events if e.name == "aten::exp"]
    backward = [e for e in events if e.name.endswith("ExpBackward0")]
    assert len(backward) == 2
    for event in backward:
        assert event.sequence_nr == forward.sequence_nr
        assert event.fwd_thread == forward.thread
    assert forward.fwd_thread == 0
    (sum_event,) = [e for e in events if e.name == "aten::sum"]
    assert sum_event.sequence_nr > forward.sequence_nr


def test_p3_what_makes_no_node_has_none(x):
    with profile() as prof:
        with wg.no_grad():
            x.exp()
        x.sum().backward()
    assert prof.function_events[0].sequence_nr == -1
    leaf = next(e for e in prof.function_events if e.name == "torch::autograd::AccumulateGrad")
    assert leaf.sequence_nr == -1


# --- P4
def test_p4_context_manager_and_decorator(x):
    @record_function("decorated")
    def f():
        return x.exp()

    with profile() as prof:
        with record_function("outer"), record_function("inner"):
            x.exp()
        f()
    outer, inner, first, decorated, second = prof.function_events
    assert inner.cpu_parent is outer
    assert first.cpu_parent is inner
    assert second.cpu_parent is decorated
    assert decorated.is_user_annotation
    assert not first.is_user_annotation


def test_p4_out_of_order_and_after_the_end(x):
    a, b = record_function("a"), record_function("b")
    with profile() as prof:
        a.__enter__()
        b.__enter__()
        a.__exit__(None, None, None)
        x.exp()
        late = record_function("late")
        late.__enter__()
    b.__exit__(None, None, None)
    late.__exit__(None, None, None)
    late.__exit__(None, None, None)
    assert sorted(names(prof)) == ["a", "aten::exp", "b", "late"]
    a_event = prof.function_events[0]
    assert a_event.time_range.end <= prof.function_events[2].time_range.start
    with record_function("nobody listens"):
        pass


# --- P5
def test_p5_intervals_nest_by_thread():
    def event(id, thread, start, end):
        return FunctionEvent(id, f"e{id}", thread, start, end)

    events = EventList([event(1, 1, 0, 10), event(2, 1, 1, 4), event(3, 1, 2, 3), event(4, 2, 2, 9), event(5, 1, 5, 9)])
    events._build_tree()
    parents = {e.id: e.cpu_parent and e.cpu_parent.id for e in events}
    assert parents == {1: None, 2: 1, 3: 2, 4: None, 5: 1}
    assert events[0].self_cpu_time_total == 10 - 3 - 4
    average = FunctionEventAvg()
    average += events[1]
    average += events[4]
    assert (average.count, average.cpu_time_total, average.cpu_time) == (2, 7, 3.5)
    assert average.self_cpu_time_total == 2 + 4


# --- Whole profiles
def test_profiles_nest_and_belong_to_a_thread(x):
    with profile() as outer:
        with profile() as inner:
            x.exp()
        thread = threading.Thread(target=x.sin)
        thread.start()
        thread.join()
        x.cos()
    assert names(inner) == ["aten::exp"]
    assert names(outer) == ["aten::exp", "aten::cos"]


def test_deep_reentrant_passes_are_seen(x):
    class Deep(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            if ctx.depth:
                with wg.enable_grad():
                    y = wg.ones(1, requires_grad=True)
                    Deep.apply(y, ctx.depth - 1).sum().backward()
            return gradient, None

    with profile() as prof:
        Deep.apply(wg.ones(1, requires_grad=True), 70).sum().backward()
    assert names(prof).count("DeepBackward") == 71


def test_an_error_inside_ends_the_events(x):
    with profile() as prof:
        with pytest.raises(RuntimeError):
            x @ wg.ones(5, 5)
        x.exp()
    assert names(prof)[-1] == "aten::exp"
    assert prof.function_events[-1].cpu_parent is None
