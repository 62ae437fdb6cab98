"""Memory that comes to its end at any allocation: MemoryError, and nothing left behind.

Either one allocation fails, or all do from then on: giving up needs no memory.
"""

import itertools
import threading

import pytest

import wengert as wg
from tests.functions import works
from tests.programs_of_modes import PROGRAMS, state

hooks = wg._C._autograd
needs_hook = pytest.mark.skipif(
    not hasattr(hooks, "_fail_allocation"), reason="only a build with tests can let allocations fail"
)


@pytest.fixture
def another_thread():
    """Passes then run without the interpreter's lock."""
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    yield
    over.set()
    thread.join()


@needs_hook
@pytest.mark.usefixtures("another_thread", "no_automatic_collection")  # in callbacks of gc, Python drops exceptions
@pytest.mark.parametrize("all_from_then_on", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_any_allocation_of_the_core(name, all_from_then_on):
    """The n-th fails, for every n until the program needs no more."""
    program = PROGRAMS[name]
    program()  # what is made once in a process is made now
    before = state()
    for n in itertools.count():
        hooks._fail_allocation(n, all_from_then_on)
        problem = None
        try:
            program()
        except MemoryError:
            pass
        except BaseException as error:
            problem = error
        finally:
            failed = hooks._end_failing_allocations()
        assert problem is None, f"{name}: allocation {n} gave {problem!r}"
        assert state() == before, f"{name}: allocation {n}"
        if not failed:
            break
        assert n < 20_000
    works()


@needs_hook
def test_the_message_says_how_much():
    said = set()
    for n in range(5):
        hooks._fail_allocation(n, True)
        try:
            wg.ones(1000, dtype=wg.float64)
        except MemoryError as error:
            said.add(str(error))
        finally:
            hooks._end_failing_allocations()
    assert "out of memory: 8000 bytes were asked for" in said


def test_more_than_there_is():
    with pytest.raises(MemoryError, match="bytes were asked for"):
        wg.ones(2**46)
    works()


_testcapi = pytest.importorskip("_testcapi", reason="CPython's own test module makes its allocations fail")


@pytest.mark.usefixtures("no_automatic_collection")
@pytest.mark.parametrize(
    "name",
    [
        "backward_of_a_sum", "index_writes", "hooks", "no_grad", "saved_tensors_hooks", "inference_mode", "dual_levels",
        "frames", "frames_again", "functional_call", "checkpoint_settings", "profiles", "modes_left_out",
        "func_jvp", "numpy_and_back", "subclasses", "custom_function",
    ],
)  # fmt: skip
def test_any_allocation_of_the_interpreter(name):
    """Its own objects: also these give MemoryError, and leave nothing behind."""
    program = PROGRAMS[name]
    program()
    before = state()
    for n in range(400):
        problem = None
        _testcapi.set_nomemory(n, n + 1)
        try:
            program()
        except MemoryError:
            pass
        except BaseException as error:
            problem = error
        finally:
            _testcapi.remove_mem_hooks()
        assert problem is None, f"{name}: allocation {n} gave {problem!r}"
        assert state() == before, f"{name}: allocation {n}"
    works()
