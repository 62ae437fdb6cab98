"""Batches that workers make ahead: who makes which one, and in what order they come out.

Tasks are numbered. ``due`` is the number of the next batch to hand out, ``sent`` that of the next task to give away;
what has come in early waits in ``early``. Workers get tasks in turn, so that the order of batches does not depend on
how fast they are. A worker whose iterable dataset has ended answers so, and gets no more.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ._processes import Processes
from ._threads import Threads
from ._worker import Answer, Request


class ParallelIterator:
    """One or, with persistent workers, many iterations over the batches of a loader.

    Parameters
    ----------
    workers : Processes or Threads
    count : int
        How many workers there are.
    prefetch : int
        How many batches each of them makes ahead.
    timeout : float
        Seconds to wait for a batch; 0 waits for ever.
    in_order : bool
        Whether batches come out in the order of their tasks, or as soon as they are made.
    persistent : bool
        Whether the workers stay at the end.
    """

    def __init__(
        self, workers: Processes | Threads, count: int, prefetch: int, timeout: float, in_order: bool, persistent: bool
    ) -> None:
        self.workers = workers
        self.count = count
        self.prefetch = prefetch
        self.timeout = timeout
        self.in_order = in_order
        self.persistent = persistent
        self.due = self.sent = 0
        self.positions: Iterator[Any] = iter(())
        self.early: dict[int, tuple[Answer, Any]] = {}
        self.sent_to: dict[int, int] = {}
        self.active: list[int] = []
        self.turn = 0
        self.stop = weakref.finalize(self, workers.stop)  # also at exit

    def start(self, positions: Iterable[Any]) -> None:
        """Begin an iteration, also while the last one is not over: its batches are thrown away."""
        if self.sent:
            self._start_over()
        self.positions = iter(positions)
        self.active = list(range(self.count))
        self.turn = 0
        for _ in range(self.prefetch * self.count):
            self._send_next()

    def _start_over(self) -> None:
        first = self.sent
        for number in range(self.count):
            self._send(number, Request.START_OVER)
        while any(index not in self.early for index in range(first, self.sent)):
            self._receive()
        failures = [what for index, (answer, what) in self.early.items() if index >= first and what is not None]
        self.early.clear()
        self.sent_to.clear()
        self.due = self.sent
        if failures:
            failures[0].reraise()

    def __iter__(self) -> ParallelIterator:
        return self

    def __next__(self) -> Any:
        while True:
            index = self._next_index()
            if index is None:
                if not self.persistent:
                    self.stop()
                raise StopIteration
            answer, what = self.early.pop(index)
            number = self.sent_to.pop(index)
            if answer is Answer.END and number in self.active:
                self._retire(number)
            self._send_next()
            if answer is Answer.DATA:
                return what
            if answer is Answer.FAILURE:
                what.reraise()

    def _next_index(self) -> int | None:
        """Return the number of the answer to look at next, None at the end. Waits until it is there."""
        while self.sent_to:
            if self.in_order:
                while self.due not in self.sent_to:
                    self.due += 1
                if self.due in self.early:
                    return self.due
            elif self.early:
                index: int = next(iter(self.early))
                return index
            self._receive()
        return None

    def _receive(self) -> None:
        with self._all_or_nothing():
            message = self.workers.receive(self.timeout or None)
        if message is None:
            self.workers.stop(patience=0)
            self.stop()
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        index, answer, what = message
        self.early[index] = answer, what

    def _send_next(self) -> None:
        if not self.active:
            return
        for positions in self.positions:
            number = self.active[self.turn % len(self.active)]
            self.turn += 1
            self._send(number, positions)
            return

    def _send(self, number: int, positions: Any) -> None:
        self.sent_to[self.sent] = number
        with self._all_or_nothing():
            self.workers.send(number, (self.sent, positions))
        self.sent += 1

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Stop the workers if a message may be left half sent or half read, as by a KeyboardInterrupt."""
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def _retire(self, number: int) -> None:
        place = self.active.index(number)
        turn = self.turn % len(self.active)
        self.active.remove(number)
        self.turn = turn - (place < turn)
