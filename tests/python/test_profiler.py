"""The profiler as programs use it: tables, exports, what is measured and its newer names; rows P1, P6 and P7 of the
table of features.
"""

import json

import pytest

import wengert as wg
from wengert.autograd import profiler
from wengert.autograd.profiler import (
    _format_time,
    _profiler_enabled,
    emit_itt,
    emit_nvtx,
    kineto_available,
    profile,
    record_function,
)


@pytest.fixture
def x():
    return wg.ones(3, 3, requires_grad=True)


def names(prof):
    return [event.name for event in prof.function_events]


# --- P1
def test_p1_events_averages_and_table(x):
    with profile() as prof:
        for _ in range(3):
            x * 2
        x.exp()
    averages = prof.key_averages()
    assert {average.key: average.count for average in averages} == {"aten::mul": 3, "aten::exp": 1}
    assert str(prof) == prof.table()
    table = prof.table(sort_by="cpu_time_total", row_limit=1, header="A title")
    assert "A title" in table
    assert table.count("aten::") == 1
    assert "Self CPU time total:" in averages.table()
    assert prof.total_average().count == 4
    assert prof.self_cpu_time_total == pytest.approx(sum(e.self_cpu_time_total for e in prof.function_events))


def test_p1_not_reentrant(x):
    prof = profile()
    with prof, pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"), prof:
        pass
    with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"), prof:
        pass


def test_p1_unknown_sort_key(x):
    with profile() as prof:
        x.exp()
    with pytest.raises(AttributeError):
        prof.key_averages().table(sort_by="nonesuch")


def test_p1_disabled_and_unfinished(x):
    with profile(enabled=False) as nothing:
        x.exp()
    assert nothing is None
    with pytest.raises(RuntimeError, match="didn't finish running"):
        profile().function_events  # noqa: B018


def test_p1_groups_by_shape_and_stack(x):
    with profile(record_shapes=True, with_stack=True) as prof:
        x.exp()
        wg.ones(2).exp()
    by_shape = prof.key_averages(group_by_input_shape=True)
    assert sorted(str(a.input_shapes) for a in by_shape if a.key == "aten::exp") == ["[[2]]", "[[3, 3]]"]
    by_stack = prof.key_averages(group_by_stack_n=1)
    assert len([a for a in by_stack if a.key == "aten::exp"]) == 2
    assert "test_profiler.py" in by_stack.table()


def test_p1_top_level_only(x):
    with profile() as prof, record_function("outside"):
        x.exp()
    table = prof.table(top_level_events_only=True)
    assert "outside" in table
    assert "aten::exp" not in table


def test_p1_stacks_export(x, tmp_path):
    with profile(with_stack=True) as prof:
        for _ in range(200):
            x.exp()
    path = tmp_path / "stacks"
    prof.export_stacks(str(path))
    lines = path.read_text().splitlines()
    assert lines
    assert all(line.rpartition(" ")[2].isdigit() for line in lines)
    assert "test_profiler.py" in lines[0]
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(path), "nonesuch")


# --- P5
def test_p5_format_time():
    assert [_format_time(t) for t in (0.5, 12, 1500, 2.5e6)] == ["0.500us", "12.000us", "1.500ms", "2.500s"]


# --- P6
def test_p6_shapes_and_values(x):
    with profile(record_shapes=True) as prof:
        x.sum(0, keepdim=True)
        wg.cat([x, wg.ones(1, 3)])
    first, second = (e for e in prof.function_events if e.name in ("aten::sum", "aten::cat"))
    assert first.input_shapes[0] == [3, 3]
    assert first.input_shapes[1] == []
    assert second.input_shapes[0] == [[3, 3], [1, 3]]


def test_p6_flops():
    a, b = wg.ones(2, 3), wg.ones(3, 5)
    image, weight = wg.ones(2, 3, 8, 8), wg.ones(4, 3, 3, 3)
    with profile(with_flops=True) as prof:
        a @ b
        a * a
        wg.nn.functional.conv2d(image, weight, stride=2, padding=1)
        wg.bmm(wg.ones(4, 2, 3), wg.ones(4, 3, 5))
    flops = {event.name: event.flops for event in prof.function_events if event.flops}
    assert flops["aten::mm"] == 2 * 2 * 3 * 5
    assert flops["aten::mul"] == 6
    assert flops["aten::conv2d"] == 2 * 2 * 4 * 4 * 4 * 3 * 3 * 3
    assert flops["aten::bmm"] == 4 * 60
    assert "FLOPs" in prof.key_averages().table()


def test_p6_memory(x):
    big = wg.ones(1000)
    with profile(profile_memory=True) as prof:
        y = big.exp()
        z = big.sum()
    first, second = (e for e in prof.function_events if e.name in ("aten::exp", "aten::sum"))
    assert 4000 <= first.cpu_memory_usage < 6000
    assert 0 < second.cpu_memory_usage < 1000
    assert "CPU Mem" in prof.table()
    assert y.sum() > z
    with profile() as prof:
        big.exp()
    assert prof.function_events[0].cpu_memory_usage == 0


def test_p6_chrome_trace(x, tmp_path):
    path = tmp_path / "trace.json"
    with profile(record_shapes=True) as prof:
        x.exp().sum().backward()
    prof.export_chrome_trace(str(path))
    trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert [event["name"] for event in spans] == names(prof)
    assert all(event["dur"] >= 0 for event in spans)
    assert {event["ph"] for event in events} == {"X", "s", "f"}


# --- P7
def test_p7_queries_and_device_tools(x):
    assert not _profiler_enabled()
    with profile():
        assert _profiler_enabled()
    assert not _profiler_enabled()
    assert kineto_available() is False
    for tool in (emit_nvtx, emit_itt):
        with pytest.raises(RuntimeError, match="not available"), tool():
            pass
        with tool(enabled=False):
            pass


# --- Whole profiles
def test_profiling_changes_no_result(x):
    def run():
        x.grad = None
        (x.tanh() * x.exp()).sum().backward()
        return x.grad.tolist()

    plain = run()
    with profile(record_shapes=True, profile_memory=True, with_stack=True):
        assert run() == plain


def test_the_newer_names(x, tmp_path):
    from wengert.profiler import (
        ProfilerAction,
        ProfilerActivity,
        profile,
        record_function,
        schedule,
        tensorboard_trace_handler,
    )

    ready = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [plan(i) for i in range(5)] == [
        ProfilerAction.NONE,
        ProfilerAction.WARMUP,
        ProfilerAction.RECORD,
        ProfilerAction.RECORD_AND_SAVE,
        ProfilerAction.NONE,
    ]
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=ready.append) as prof:
        for i in range(6):
            with record_function(f"step {i}"):
                x.exp()
            prof.step()
    assert len(ready) == 1
    assert [e.name for e in prof.events() if e.is_user_annotation] == ["step 2", "step 3"]
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path))) as prof:
        x.exp()
    assert len(list(tmp_path.iterdir())) == 1
    assert prof.key_averages()[0].key == "aten::exp"
    with pytest.raises(ValueError, match="active must be positive"):
        schedule(wait=0, warmup=0, active=0)
    assert profiler.record_function is record_function
