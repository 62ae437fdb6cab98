"""Workers: order, copies, seeds, errors, ends that are foreseen and ends that are not."""

import contextlib
import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import wengert as wg
from wengert.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on a machine with one core
PATIENCE = 60  # seconds that nothing here takes, also on a machine that does much else
KINDS = pytest.mark.parametrize("kind", ["process", "thread"])


class Squares(Dataset):
    def __init__(self, size=20):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return wg.full((2,), float(index**2)), index


class Shares(IterableDataset):
    """Every worker counts its share of the numbers below ten."""

    def __iter__(self):
        worker = get_worker_info()
        return iter(range(10)) if worker is None else iter(range(worker.id, 10, worker.num_workers))


class Calls(Dataset):
    """Samples are what a function returns."""

    def __init__(self, function, size=8):
        self.function = function
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return self.function(index)


class Named(wg.Tensor):
    pass


def load(dataset, kind="process", num_workers=2, **options):
    return DataLoader(dataset, num_workers=num_workers, workers=kind, **options)


def children():
    """Processes that are alive, but for those of iterations in tracebacks of errors that were expected."""
    gc.collect()
    return multiprocessing.active_children()


@KINDS
@pytest.mark.parametrize("num_workers", [1, 3])
def test_the_same_batches_as_without_workers(kind, num_workers):
    expected = [(x.tolist(), i.tolist()) for x, i in DataLoader(Squares(), batch_size=3)]
    loader = load(Squares(), kind, num_workers, batch_size=3)
    for _ in range(2):
        assert [(x.tolist(), i.tolist()) for x, i in loader] == expected


@KINDS
def test_persistent_workers_stay(kind):
    place = os.getpid if kind == "process" else threading.get_ident
    loader = load(Calls(lambda index: place()), kind, persistent_workers=True, batch_size=None)
    first, second = set(loader), set(loader)
    assert first == second
    assert len(first) == 2
    assert place() not in first
    batches = iter(loader)
    next(batches)
    assert len(list(loader)) == 8  # a new iteration throws the rest of the old one away
    del loader, batches
    assert not children()


@KINDS
def test_iterable_datasets(kind):
    loader = load(Shares(), kind, batch_size=2, persistent_workers=True)
    for _ in range(2):
        assert [b.tolist() for b in loader] == [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]
    assert list(load(Shares(), kind, 3, batch_size=None)) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert [b.tolist() for b in load(Shares(), kind, 3, batch_size=3, drop_last=True)] == [
        [0, 3, 6],
        [1, 4, 7],
        [2, 5, 8],
    ]


@KINDS
def test_out_of_order(kind):
    def slow_at_the_start(index):
        time.sleep(0.3 if index == 0 else 0)
        return index

    loaded = list(load(Calls(slow_at_the_start), kind, batch_size=None, in_order=False))
    assert sorted(loaded) == list(range(8))
    assert loaded[0] != 0


@KINDS
def test_prefetching_is_bounded(kind):
    asked = []

    class Recording:
        def __iter__(self):
            for index in range(20):
                asked.append(index)
                yield index

    batches = iter(load(Squares(), kind, sampler=Recording(), prefetch_factor=3, batch_size=None))
    assert len(asked) == 6
    next(batches)
    assert len(asked) == 7


@KINDS
def test_worker_info_and_init(kind):
    started = []

    def init(number):
        info = get_worker_info()
        assert (info.id, info.num_workers) == (number, 2)
        started.append(number)

    def look(index):
        info = get_worker_info()
        return info.id, info.num_workers, info.seed, len(info.dataset), list(started)

    seen = list(load(Calls(look), kind, batch_size=None, worker_init_fn=init, collate_fn=lambda sample: sample))
    assert {worker for worker, *_ in seen} == {0, 1}
    assert {(count, size) for _, count, _, size, _ in seen} == {(2, 8)}
    assert abs(seen[0][2] - seen[1][2]) == 1
    assert get_worker_info() is None
    if kind == "process":
        assert [info[-1] for info in seen[:2]] == [[0], [1]]
        assert not started
    else:
        assert sorted(started) == [0, 1]


def test_processes_have_seeds_of_their_own():
    def draw(index):
        return wg.rand(()).item(), random.random(), np.random.rand()  # noqa: NPY002

    def drawn():
        loader = load(Calls(draw), batch_size=None, generator=wg.Generator().manual_seed(7), collate_fn=tuple)
        return list(loader), list(loader)

    first, second = drawn()
    assert drawn() == (first, second)
    assert len(set(first + second)) == 16


@KINDS
def test_errors_have_their_type_and_traceback(kind):
    class OddError(Exception):
        def __init__(self, one, two):
            super().__init__(one, two)

    errors = {
        1: KeyError("no key"),
        3: ValueError("no value"),
        5: OddError(1, 2),
        6: UnicodeDecodeError("a", b"b", 0, 1, "c"),
    }

    def fail(index):
        if index in errors:
            raise errors[index]
        return index

    batches = iter(load(Calls(fail), kind, batch_size=None))
    for index in range(8):
        if index not in errors:
            assert next(batches) == index
            continue
        expected = {1: KeyError, 3: ValueError}.get(index, (RuntimeError, Exception))
        with pytest.raises(expected) as error:
            next(batches)
        text = str(error.value)
        assert (
            f"Caught {type(errors[index]).__name__} in DataLoader worker {kind} {index % 2}.\nOriginal Traceback"
            in text
        )
        assert "raise errors[index]" in text
    with pytest.raises(StopIteration):
        next(batches)


@KINDS
def test_errors_of_the_start(kind):
    def init(number):
        raise OSError("no room")

    with pytest.raises(OSError, match=f"Caught OSError in DataLoader worker {kind} 0"):
        next(iter(load(Squares(), kind, worker_init_fn=init)))


def test_what_cannot_be_sent_back():
    with pytest.raises(Exception, match=r"DataLoader worker process 0\.\nOriginal Traceback(.|\n)*pickle"):
        next(iter(load(Calls(lambda index: lambda: index), batch_size=None)))


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (
            lambda: os.kill(os.getpid(), signal.SIGKILL),
            r"is killed by signal: Killed \(SIGKILL\)\. It was worker 1 of 2",
        ),
        (lambda: os._exit(3), "exited unexpectedly with exit code 3"),
        (lambda: sys.exit(4), "exited unexpectedly with exit code 4"),
    ],
)
def test_processes_that_die(end, message):
    def dying(index):
        if index == 5:
            end()
        return index

    batches = iter(load(Calls(dying), batch_size=None))
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=message):
        list(batches)
    assert time.monotonic() - start < PATIENCE
    assert not children()


def test_a_thread_that_wants_to_exit_is_an_error():
    with pytest.raises(SystemExit, match="Caught SystemExit in DataLoader worker thread 0"):
        next(iter(load(Calls(lambda index: sys.exit(4)), "thread")))


@KINDS
def test_timeouts(kind):
    event = threading.Event()  # of no use to processes, which sleep
    loader = load(Calls(lambda index: event.wait(3)), kind, timeout=0.1)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.1 seconds"):
        next(iter(loader))
    event.set()
    assert time.monotonic() - start < PATIENCE
    assert not children()


def test_an_iteration_that_is_left_ends_its_processes():
    batches = iter(load(Squares(200), batch_size=2))
    next(batches)
    assert len(children()) == 2
    del batches
    assert not children()


def test_large_batches_are_writable_and_leave_nobody_waiting():
    """Batches and lists of positions that fill the pipes in both directions, many times over."""

    class Many(Dataset):
        def __len__(self):
            return 4_000_000

        def __getitems__(self, indices):
            return np.asarray(indices)

        def __getitem__(self, index):
            raise AssertionError

    positions = [list(range(start, start + 200_000)) for start in range(0, 2_000_000, 200_000)]
    total = 0
    for batch in load(Many(), batch_sampler=positions, collate_fn=lambda array: (wg.from_numpy(array), array)):
        tensor, array = batch
        total += int(tensor.sum())
        array += 1
        tensor.add_(1)
    assert total == sum(range(2_000_000))
    batches = iter(load(Many(), batch_sampler=positions, collate_fn=wg.from_numpy))
    next(batches)
    start = time.monotonic()
    del batches
    gc.collect()
    assert time.monotonic() - start < PATIENCE
    assert not children()


def test_tensors_arrive_as_they_were():
    named = wg.arange(3).as_subclass(Named)
    tagged = wg.ones(1)
    tagged.tag = "kept"
    samples = [
        wg.ones(2, requires_grad=True), wg.nn.Parameter(wg.zeros(1)), wg.arange(6).reshape(2, 3).T, named, tagged,
        wg.tensor(True), wg.zeros(0, 3), wg.tensor([1 + 2j]).conj(), wg.rand(3)[::2],
    ]  # fmt: skip
    for got, sent in zip(load(samples, batch_size=None), samples, strict=True):
        assert type(got) is type(sent)
        assert (got.dtype, got.shape, got.stride()) == (sent.dtype, sent.shape, sent.stride())
        assert got.requires_grad == sent.requires_grad
        assert got.tolist() == sent.tolist()
        assert vars(got) == vars(sent)
        got.detach().zero_()


def test_threads_share_the_dataset():
    samples = [object() for _ in range(4)]
    loader = load(samples, "thread", batch_size=None, collate_fn=lambda sample: sample)
    assert all(a is b for a, b in zip(loader, samples, strict=True))


def test_loaders_in_loaders():
    inner = load(Squares(4), batch_size=2)
    assert [[i.tolist() for _, i in inner] for _ in load(Squares(4), batch_size=2)] == [[[0, 1], [2, 3]]] * 2


PROGRAM = r"""
    import os, sys, time
    from wengert.utils.data import DataLoader

    class Slow:
        def __len__(self):
            return 100

        def __getitem__(self, index):
            os.write(1, f"{os.getpid()}\n".encode())
            time.sleep(0.05)
            return index

    def main():
        for batch in DataLoader(Slow(), num_workers=2):
            pass

    main()
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not os.path.exists("/proc"), reason="looks at processes by /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_program_that_ends_takes_its_workers_along(number):
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = {int(program.stdout.readline()) for _ in range(4)}
    program.send_signal(number)
    _, errors = program.communicate(timeout=PATIENCE)
    if number == signal.SIGINT:
        assert errors.count("Traceback") == 1
        assert "KeyboardInterrupt" in errors
    deadline = time.monotonic() + PATIENCE
    while any(alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in workers)
    assert len(workers) == 2


def test_an_interrupt_in_the_middle_of_a_message():
    """The rest of the message is thrown away with the workers; the next iteration has new ones."""
    loader = load(Calls(lambda index: np.zeros(500_000), size=20), batch_size=None, persistent_workers=True)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for delay in (0.06, 0.08, 0.1, 0.12, 0.14):
            with contextlib.suppress(KeyboardInterrupt):  # on a busy machine it may come where it is ignored
                signal.setitimer(signal.ITIMER_REAL, delay)
                while signal.getitimer(signal.ITIMER_REAL)[0]:
                    sum(len(batch) for batch in loader)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert sum(len(batch) for batch in loader) == 10_000_000
