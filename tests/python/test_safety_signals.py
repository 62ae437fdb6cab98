"""Ctrl-C at any point: every mode, level and hook is as before."""

import contextlib
import dis
import functools
import itertools
import random
import signal
import sys

import pytest

from tests.functions import works
from tests.programs_of_modes import PROGRAMS, state


class Interrupt(BaseException):
    """What a handler raises."""


# The instructions after which the interpreter looks whether a signal has come.
HEARD = {"RESUME", "CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD"}


@functools.cache
def is_heard(code, before, now):
    """Whether a signal after one instruction is the same as an exception from the next: it goes to the same handler."""

    def handler(offset):
        entries = dis._parse_exception_table(code)
        return [entry.target for entry in entries if entry.start <= offset < entry.end]

    return dis.opname[code.co_code[before]] in HEARD and handler(before) == handler(now)


class At:
    """Raises where a signal could for the n-th time."""

    def __init__(self, n):
        self.left = n
        self.raised = False
        self.before = {}  # what ran last in each frame

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, *exc_info):
        sys.settrace(None)

    def _call(self, frame, event, argument):
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._step

    def _step(self, frame, event, argument):
        if event == "opcode" and not self.raised:
            before = self.before.get(frame, frame.f_lasti)
            self.before[frame] = frame.f_lasti
            self.left -= is_heard(frame.f_code, before, frame.f_lasti)
            if self.left < 0:
                self.raised = True
                sys.settrace(None)
                raise Interrupt
        return self._step


MODES = [
    "no_grad", "decorated", "inference_mode", "anomaly", "dual_levels", "saved_tensors_hooks", "disabled_hooks",
    "dispatch_modes", "subclasses", "mutation_of_saved_tensors", "profiles",
    "profiled_steps", "frames", "frames_where_nothing_is_recorded", "frames_again", "functional_call",
    "checkpoint_settings", "modes_left_out", "forked_random_numbers", "hidden_versions",
]  # fmt: skip
# Those that take too many instructions to try them all.
LONG = [
    "checkpoints", "reentrant_checkpoints", "func_grad", "func_hessian", "func_jvp", "func_vmap", "func_vmap_grad",
    "functional_jacobian",
]  # fmt: skip


@pytest.mark.usefixtures("no_automatic_collection")  # in callbacks of gc, Python drops exceptions
@pytest.mark.parametrize("name", MODES)
def test_between_any_two_instructions(name):
    program = PROGRAMS[name]
    program()
    before = state()
    for n in itertools.count():
        at = At(n)
        with contextlib.suppress(Interrupt), at:
            program()
        assert state() == before, f"{name}: instruction {n}"
        if not at.raised:
            break
    works()


@pytest.mark.usefixtures("no_automatic_collection")
@pytest.mark.parametrize("name", LONG)
def test_between_some_instructions(name):
    program = PROGRAMS[name]
    program()
    before = state()
    with At(10**9) as counting:
        program()
    instructions = 10**9 - counting.left
    for n in random.Random(5).sample(range(instructions), min(instructions, 150)):
        with contextlib.suppress(Interrupt), At(n):
            program()
        assert state() == before, f"{name}: instruction {n}"
    works()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # what callbacks of weakrefs raise, Python drops
@pytest.mark.usefixtures("no_automatic_collection")
def test_signals_at_random_points():
    armed = set()

    def handler(number, frame):
        if armed:
            raise Interrupt

    rng = random.Random(3)
    before = state()
    previous = signal.signal(signal.SIGALRM, handler)
    stopped = 0
    try:
        for _ in range(400):
            name = rng.choice([*MODES, *LONG])
            try:
                armed.add(name)
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 2e-3))
                for _ in range(200):
                    PROGRAMS[name]()
            except Interrupt:
                stopped += 1
            finally:
                armed.clear()
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert state() == before, name
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert stopped > 200
    works()
