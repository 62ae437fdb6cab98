"""The device made of threads, as Python sees it: streams, events, memory, errors."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest

import wengert as wg
from wengert import sim


@pytest.fixture(autouse=True)
def checked():
    """Each test runs with the checker, and leaves the devices idle."""
    sim.forget_races()
    with sim.check_races("raise"):
        yield
        sim.set_delays(0, 0)
        for i in range(sim.device_count()):
            sim.synchronize(i)


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=os.environ | environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_values():
    x = wg.tensor([1.0, 2.0, 3.0])
    there = x.to("sim")
    assert there.device == wg.device("sim:0")
    assert ((there * there).sum() + 1).item() == 15
    assert (there.to("sim:1") + 1).cpu().tolist() == [2, 3, 4]


def test_gradients_are_those_of_the_cpu():
    def gradient(device):
        x = wg.linspace(-1, 1, 12, dtype=wg.float64).reshape(3, 4).to(device).requires_grad_()
        w = wg.ones(4, 2, dtype=wg.float64, device=device)
        (x @ w).tanh().square().sum().backward()
        return x.grad.cpu()

    assert gradient("sim").equal(gradient("cpu"))


def test_current_device_and_stream():
    assert sim.current_device() == 0
    with sim.device(1):
        assert sim.current_device() == 1
        assert wg.zeros(1, device="sim").device == wg.device("sim:1")
    assert sim.current_device() == 0
    side = sim.Stream("sim:1")
    with sim.stream(side):
        assert sim.current_device() == 1
        assert sim.current_stream() == side
    assert sim.current_device() == 0
    assert sim.current_stream() == sim.default_stream()
    assert sim.current_stream(1) == sim.default_stream(1)
    with side, side:
        assert sim.current_stream() == side
    assert sim.current_stream(1) == sim.default_stream(1)
    with pytest.raises(RuntimeError, match="Invalid device index"):
        sim.set_device(100)


def test_current_stream_is_of_the_thread():
    side, seen = sim.Stream(), []
    with side:
        thread = threading.Thread(target=lambda: seen.append(sim.current_stream()))
        thread.start()
        thread.join()
    assert seen == [sim.default_stream()]


def test_streams_are_values():
    a, b = sim.Stream(), sim.Stream()
    assert a != b
    assert len({a, b, sim.default_stream(), sim.default_stream()}) == 3
    assert a.device == wg.device("sim:0")
    assert a.stream_id > 0
    assert sim.default_stream().stream_id == 0
    assert "stream_id=0" in repr(sim.default_stream())


def test_events():
    side, begin, end = sim.Stream(), sim.Event(enable_timing=True), sim.Event(enable_timing=True)
    assert begin.query()  # nothing was recorded
    sim.set_delays(1, 2000)
    with side:
        begin.record()
        x = wg.zeros(10, device="sim")
        for _ in range(5):
            x += 1
        end.record()
    end.synchronize()
    assert end.query()
    assert side.query()
    assert begin.elapsed_time(end) >= 0
    with pytest.raises(RuntimeError, match="enable_timing"):
        sim.Event().elapsed_time(end)
    sim.current_stream().wait_event(end)
    end.wait()


def test_a_missing_wait_is_found():
    side, x = sim.Stream(), wg.zeros(3, device="sim")
    side.wait_stream(sim.current_stream())
    with side:
        y = x + 1
    with pytest.raises(RuntimeError, match=r"\[sim\] race: .* reads memory that 'add' on stream \d+ writes"):
        y * 2
    sim.current_stream().wait_stream(side)
    assert (y * 2).tolist() == [2, 2, 2]
    assert len(sim.races()) == 1


def test_races_are_collected():
    side, x = sim.Stream(), wg.zeros(3, device="sim")
    with sim.check_races("collect"), side:
        x.add_(1)
    assert sim.race_check() == "raise"
    assert len(sim.races()) == 1
    with pytest.raises(ValueError, match="'raise', 'collect' or None"):
        sim.check_races("perhaps")


def test_memory_is_counted_and_reused():
    sim.empty_cache()
    before = sim.memory_allocated()
    x = wg.zeros(1000, dtype=wg.uint8, device="sim")
    assert sim.memory_allocated() == before + 1024
    address = x.data_ptr()
    sim.synchronize()
    del x
    assert sim.memory_allocated() == before
    assert wg.zeros(1000, dtype=wg.uint8, device="sim").data_ptr() == address
    assert sim.max_memory_allocated() >= before + 1024
    assert sim.memory_stats()["reserved_bytes.all.current"] == sim.memory_reserved()
    free, total = sim.mem_get_info()
    assert 0 < free <= total == sim.get_device_properties().total_memory


def test_record_stream():
    side, x = sim.Stream(), wg.zeros(1000, device="sim")
    side.wait_stream(sim.current_stream())
    sim.set_delays(2, 2000)
    with side:
        total = x.sum()
    x.record_stream(side)
    del x
    y = wg.ones(1000, device="sim")  # never on memory that is in use
    side.synchronize()
    assert total.item() == 0
    assert y.sum().item() == 1000
    with pytest.raises(RuntimeError, match="have no streams"):
        wg.zeros(1).record_stream(side)


def test_memory_ends():
    try:
        sim.set_per_process_memory_fraction(0.01)
        with pytest.raises(RuntimeError, match=r"sim out of memory\. Tried to allocate"):
            wg.zeros(1 << 24, device="sim")
        assert sim.memory_stats()["num_ooms"] >= 1
    finally:
        sim.set_per_process_memory_fraction(1)
    assert wg.zeros(1 << 24, device="sim")[0].item() == 0


def test_other_threads_run_while_the_host_waits():
    """Work that needs the interpreter is done while the host waits for it."""
    x = wg.rand(16, dtype=wg.float64)
    assert wg.fft.fft(x.to("sim")).cpu().equal(wg.fft.fft(x))


def test_many_threads():
    results = {}

    def work(i):
        with sim.stream(sim.Stream(i % 2)):
            x = wg.zeros(100, device="sim")
            for _ in range(50):
                x = x + i
            results[i] = x[0].item()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {i: 50 * i for i in range(4)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_is_refused():
    done = run("""
        import os
        import wengert as wg
        x = wg.zeros(3, device="sim")
        if os.fork() == 0:
            try:
                x + 1
            except RuntimeError as e:
                os._exit(3 if "Cannot re-initialize sim in forked subprocess" in str(e) else 4)
            os._exit(5)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
    """)
    assert done.stdout.strip() == "3", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_to_ask_is_no_use():
    """Who has only looked at the devices may use them in a child; in the child of one that used them, to ask raises."""
    done = run("""
        import os
        import wengert as wg
        from wengert import sim

        def in_child(act):
            if os.fork() == 0:
                os._exit(act())
            return os.waitstatus_to_exitcode(os.wait()[1])

        def refused():
            for ask in (sim.race_check, sim.waits, sim.races, sim.memory_stats):
                try:
                    ask()
                except RuntimeError:
                    continue
                return 1
            return 0

        sim.race_check(), sim.memory_stats(), sim.current_stream().query(), sim.Stream().record_event().query()
        print(in_child(lambda: int(wg.ones(3, device="sim").sum().item()) - 3))
        x = wg.ones(3, device="sim")
        print(in_child(refused))
    """)
    assert done.stdout.split() == ["0", "0"], done.stderr


def test_memory_of_what_failed_is_given_back():
    x, side = wg.ones(1000, device="sim"), sim.Stream()
    before = sim.memory_allocated()
    with side, pytest.raises(RuntimeError, match="race"):
        x.resize_(100_000)  # is copied before what fills it is done
    assert sim.memory_allocated() == before


def test_environment():
    done = run(
        """
        import wengert as wg
        print(wg.sim.device_count(), wg.sim.race_check())
        x = wg.zeros(3, device="sim:2")  # not waited for
        """,
        WENGERT_SIM_DEVICES="3", WENGERT_SIM_CHECK="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3", "raise"]


def test_accelerator():
    assert wg.accelerator.is_available()
    assert wg.accelerator.current_accelerator().type == "sim"
    assert wg.accelerator.device_count() == sim.device_count()
    with wg.accelerator.device_index(1):
        assert wg.accelerator.current_device_index() == 1
    wg.accelerator.synchronize()
