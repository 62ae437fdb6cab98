"""Passes over operations of several streams and two devices: values are the CPU's, and nothing is a race.

Rows of the semantics: E2 (a thread for each device), E10 (fork), E11 (streams of nodes, waits of sums, leaf streams),
S5 (save_on_cpu), K8 (checkpoint keeps the state of devices), B5 and B14 (saved tensors, devices of gradients), B24
(leaf streams), D3 and D7 (threads of devices), L8 (`grad` of another device).
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import wengert as wg
from wengert import sim

SEEDS = 1000
DEVICES = ("sim:0", "sim:1")
STREAMS = 3  # of each device


@pytest.fixture(autouse=True)
def races_raise() -> Iterator[None]:
    before = sim.race_check()
    sim.check_races("raise")
    yield
    for device in DEVICES:
        sim.synchronize(device)
    sim.check_races(before)
    sim.forget_races()


# --- Random programs


class Program:
    """Leaves, and steps that combine what is there, each on a stream of a device."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.leaves = self.random.randint(1, 3)
        self.steps = [self.step(self.leaves + i) for i in range(self.random.randint(3, 9))]

    def step(self, known: int) -> tuple[str, list[int], int, int]:
        name = self.random.choice(["mul", "add", "tanh", "view", "sum"])
        operands = [self.random.randrange(known) for _ in range(2 if name in ("mul", "add") else 1)]
        return name, operands, self.random.randrange(len(DEVICES)), self.random.randrange(STREAMS)

    @staticmethod
    def compute(name: str, operands: list[Any]) -> Any:
        if name == "mul":
            return operands[0] * operands[1]
        if name == "add":
            return operands[0] + operands[1]
        if name == "view":
            return operands[0].reshape(2, 2).t().reshape(4)
        return operands[0].tanh() if name == "tanh" else operands[0].sum() * wg.ones_like(operands[0])

    def values(self) -> list[Any]:
        return [wg.linspace(0.1 + i, 0.9 + i, 4, dtype=wg.float64) for i in range(self.leaves)]

    def on_cpu(self) -> list[list[float]]:
        leaves = [v.requires_grad_() for v in self.values()]
        known: list[Any] = list(leaves)
        for name, operands, _, _ in self.steps:
            known.append(self.compute(name, [known[i] for i in operands]))
        sum(k.sum() for k in known).backward()
        return [leaf.grad.tolist() for leaf in leaves]

    def on_devices(self, before_backward: Callable[[], Any] = lambda: None) -> list[list[float]]:
        streams = [[sim.Stream(device) for _ in range(STREAMS)] for device in DEVICES]
        leaves = [v.to(DEVICES[i % 2]).requires_grad_() for i, v in enumerate(self.values())]
        known = [(leaf, sim.current_stream(leaf.device)) for leaf in leaves]
        for name, operands, device, number in self.steps:
            stream = streams[device][number]
            with sim.stream(stream):
                known.append((self.compute(name, [self.brought(*known[i], stream) for i in operands]), stream))
        here = sim.current_stream("sim:0")
        total = sum(self.brought(t, s, here).sum() for t, s in known)
        before_backward()
        total.backward()
        return [leaf.grad.tolist() for leaf in leaves]

    @staticmethod
    def brought(t: Any, made_on: Any, stream: Any) -> Any:
        """The tensor, ordered before what `stream` gets next, on its device."""
        if t.device != stream.device:
            reads = sim.current_stream(t.device)
            if reads != made_on:
                reads.wait_stream(made_on)
                t.record_stream(reads)
            return t.to(stream.device)
        if made_on != stream:
            stream.wait_stream(made_on)
            t.record_stream(stream)
        return t


def close(found: list[list[float]], expected: list[list[float]]) -> bool:
    """But for the order of sums."""
    return all(f == pytest.approx(e, rel=1e-12) for f, e in zip(found, expected, strict=True))


@pytest.mark.parametrize("seed", range(0, SEEDS, 50))
def test_E11_programs_of_several_streams_have_the_gradients_of_the_cpu_and_no_race(seed: int) -> None:
    sim.set_delays(seed, 20)
    try:
        for s in range(seed, seed + 50):
            program = Program(s)
            assert close(program.on_devices(), program.on_cpu()), s
    finally:
        sim.set_delays(0, 0)
    assert sim.races() == []


def gradients_without(seed: int, lost: int | str | None) -> list[list[float]] | None:
    """The gradients of a program whose pass loses a wait; None where that is found."""
    try:
        return Program(seed).on_devices(lambda: sim.lose_wait(lost))
    except RuntimeError as error:
        if "race" not in str(error):
            raise
        return None
    finally:
        sim.lose_wait(None)


@pytest.mark.parametrize("seed", range(0, 1000, 100))
def test_E11_waits_that_are_missing_in_the_engine_are_found(seed: int) -> None:
    """All of them in every program; one of them unless others order the same: then nothing is wrong."""
    for s in range(seed, seed + 100):
        expected = Program(s).on_devices(lambda: sim.lose_wait(None))
        waits = sim.waits()
        assert gradients_without(s, "all") is None, s
        if s % 25 == 0:
            single = [gradients_without(s, lost) for lost in range(waits)]
            assert None in single, s
            assert all(found is None or close(found, expected) for found in single), s


# --- Threads


def test_E2_nodes_of_a_device_run_on_its_thread_and_others_on_the_callers() -> None:
    ran: dict[str, int] = {}
    x = wg.ones(2, requires_grad=True)
    y = (x * 2).to("sim:0") * 3
    z = y.to("sim:1") * 4
    x.register_hook(lambda g: ran.setdefault("cpu", threading.get_ident()) and None)
    y.register_hook(lambda g: ran.setdefault("sim:0", threading.get_ident()) and None)
    z.register_hook(lambda g: ran.setdefault("sim:1", threading.get_ident()) and None)
    z.sum().backward()
    assert ran["cpu"] == threading.get_ident()
    assert len(set(ran.values())) == 3


def test_E2_without_threads_all_runs_on_the_caller() -> None:
    ran: set[int] = set()
    x = wg.ones(2, device="sim:0", requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: ran.add(threading.get_ident()))
    with wg.autograd.set_multithreading_enabled(False):
        (y * y).sum().backward()
    assert ran == {threading.get_ident()}
    assert x.grad is not None
    assert x.grad.tolist() == [18.0, 18.0]


def test_a_pass_inside_a_node_of_a_device() -> None:
    class Inner(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            with wg.enable_grad():
                inner = x.detach().requires_grad_()
                (found,) = wg.autograd.grad((inner.to("sim:1") ** 3).sum(), inner)
            return grad * found

    x = wg.tensor([1.0, 2.0], device="sim:0", requires_grad=True)
    Inner.apply(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 12.0]


def test_an_exception_comes_to_the_caller_with_its_type_and_the_device_goes_on() -> None:
    class Broken(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            raise KeyError("lost")

    x = wg.ones(2, device="sim:0", requires_grad=True)
    for _ in range(2):
        with pytest.raises(KeyError, match="lost"):
            Broken.apply(x * 2).sum().backward()
    (x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]


def test_thread_local_modes_are_those_of_the_caller() -> None:
    seen: list[bool] = []
    x = wg.ones(2, device="sim:0", requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(wg.is_grad_enabled()))
    (g,) = wg.autograd.grad((y * y).sum(), x, create_graph=True)
    wg.autograd.grad((y * y).sum(), x)
    assert seen == [True, False]
    (second,) = wg.autograd.grad(g.sum(), x)
    assert second.tolist() == [8.0, 8.0]


def test_what_device_means_is_as_forward_was() -> None:
    """The default device travels with the pass; the current device is that of the node."""
    seen: list[Any] = []
    x = wg.ones(2, device="sim:1", requires_grad=True)
    y = x * 2

    def look(grad: Any) -> None:
        seen.append(
            (threading.current_thread(), wg.get_default_device().type, wg.ones(1).device.type, sim.current_device())
        )
        wg.set_default_device("cpu")  # for this node

    y.register_hook(look)
    x.register_hook(look)
    with wg.device("meta"):
        y.sum().backward(wg.ones((), device="sim:1"))
    assert [device for _, *device in seen] == [["meta", "meta", 1]] * 2
    assert threading.current_thread() not in {thread for thread, *_ in seen}
    assert wg.get_default_device() == wg.device("cpu")
    assert sim.current_device() == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_E10_a_forked_child_refuses_devices_and_computes_on_the_cpu() -> None:
    x = wg.ones(2, device="sim:0", requires_grad=True)
    (x * 2).sum().backward()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            y = wg.ones(2, requires_grad=True)
            (y * 2).sum().backward()
            try:
                (x * 3).sum().backward()
            except RuntimeError:
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- Streams of nodes and leaves


def test_E11_a_node_runs_on_the_stream_of_its_operation() -> None:
    seen: list[Any] = []
    side = sim.Stream("sim:0")
    x = wg.ones(2, device="sim:0", requires_grad=True)
    side.wait_stream(sim.current_stream("sim:0"))
    with sim.stream(side):
        y = x * 2
    y.register_hook(lambda g: seen.append(sim.current_stream("sim:0")))
    sim.current_stream("sim:0").wait_stream(side)
    y.record_stream(sim.current_stream("sim:0"))
    y.sum().backward()
    assert seen == [side]
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]


def test_E11_gradients_of_leaves_are_ready_for_the_callers_streams() -> None:
    side = sim.Stream("sim:0")
    sim.set_delays(1, 300)
    try:
        side.wait_stream(sim.current_stream("sim:0"))
        with sim.stream(side):
            x = wg.ones(64, device="sim:0", requires_grad=True)
            y = (x * 5).sum()
        sim.current_stream("sim:0").wait_stream(side)
        y.record_stream(sim.current_stream("sim:0"))
        y.backward()
        assert x.grad is not None
        assert (x.grad * 1).tolist() == [5.0] * 64
    finally:
        sim.set_delays(0, 0)


def test_E11_callbacks_come_last_with_the_callers_streams() -> None:
    order: list[str] = []

    def later(g: Any) -> None:
        wg.autograd.Variable._execution_engine.queue_callback(lambda: order.append("callback"))
        order.append("hook")

    x = wg.ones(2, device="sim:0", requires_grad=True)
    (y := x * 2).register_hook(later)
    x.register_post_accumulate_grad_hook(lambda t: order.append("leaf"))
    y.sum().backward()
    assert order == ["hook", "leaf", "callback"]


# --- What stands on top


def test_S5_saved_on_the_cpu_and_brought_back() -> None:
    x = wg.tensor([1.0, 2.0], device="sim:1", requires_grad=True)
    with wg.autograd.graph.save_on_cpu(pin_memory=True, device_type="sim"):
        y = (x * x).sum()
    y.backward()
    assert x.grad is not None
    assert x.grad.device == wg.device("sim:1")
    assert x.grad.tolist() == [2.0, 4.0]


def test_K8_checkpoint_on_a_device() -> None:
    from wengert.utils.checkpoint import checkpoint

    x = wg.tensor([1.0, 2.0], device="sim:0", requires_grad=True)
    checkpoint(lambda t: (t.sin() * t).sum(), x, use_reentrant=False).backward()
    expected = wg.tensor([1.0, 2.0], requires_grad=True)
    (expected.sin() * expected).sum().backward()
    assert x.grad is not None
    assert expected.grad is not None
    assert x.grad.tolist() == expected.grad.tolist()
