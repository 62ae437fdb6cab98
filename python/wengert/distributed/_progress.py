"""The thread that moves messages on while the program computes.

All calls of MPI after the first are made by one helper thread, so a library that serves one thread at a time is enough,
and no call of MPI ever blocks: a communication is a generator (`Work`) that starts nonblocking operations, yields their
requests, and is resumed when these have completed. What must keep its order (the collectives of a group: MPI matches
them by it) stands in one `Lane` and runs one after the other; lanes run beside each other.

MPI moves large tensors piece by piece, a piece each time it is called, so how often the thread looks decides how fast
they are. While somebody waits for a result it does nothing else, and offers the core to others now and then, so that
more ranks than cores do no harm. While nobody waits, or for long, it looks for a moment and then sleeps ten times as
long, because the processor has better things to do; with nothing to move it sleeps until there is something.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable

from wengert import _C

from ._errors import DistBackendError
from ._work import Work

_EAGER = 0.5  # s since the last movement during which it looks without pause, while somebody waits
_LOOKING, _PAUSE = 100e-6, 1e-3  # s of each, otherwise
_OFFER = 100e-6  # s after which the core is offered to others
_LOOK_FOR_DEPARTURES = 0.2  # s without any movement


class Lane:
    """Communications that run one after the other."""

    def __init__(self) -> None:
        self.queue: deque[Work] = deque()

    def advance(self) -> bool:
        """Move the first on, and those after it as far as it goes; return whether any has come to its end."""
        moved = False
        while self.queue and self.queue[0].advance():
            self.queue.popleft()
            moved = True
        return moved


class Progress:
    """The helper thread.

    Parameters
    ----------
    departed
        Returns the ranks that have left, by their number in the world, and how long ago that was noticed.
    """

    def __init__(self, departed: Callable[[], dict[int, float]]) -> None:
        self._departed = departed
        self._changed = threading.Condition()
        self._active: list[Lane] = []  # guarded by _changed, as are the queues of lanes
        self._waiting = 0
        self._closing = False
        self._process = os.getpid()
        self._moved_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="wengert.distributed", daemon=True)
        self._thread.start()

    def submit(self, lane: Lane, work: Work) -> Work:
        """Let a communication run after those of its lane."""
        if os.getpid() != self._process:
            raise DistBackendError(
                f"[{work.name}] this process was forked from a rank and is none itself; communicate in the rank"
            )
        with self._changed:
            if self._closing:
                raise DistBackendError(f"[{work.name}] the process group has been destroyed")
            work._watched = self._count_waiting
            lane.queue.append(work)
            if lane not in self._active:
                self._active.append(lane)
            self._changed.notify()
        return work

    def close(self, seconds: float) -> None:
        """Let what was submitted come to its end, for so long at most, and end the thread."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._closing = True
            self._waiting += 1
            self._changed.notify()
        self._thread.join(seconds)
        self._stopped = True
        self._thread.join()

    _stopped = False

    def _count_waiting(self, change: int) -> None:
        with self._changed:
            self._waiting += change
            self._changed.notify()

    def _run(self) -> None:
        try:
            self._move()
        except BaseException as error:  # whoever waits must not do so forever
            with self._changed:
                self._closing = True
                for work in [work for lane in self._active for work in lane.queue]:
                    work.end(error)

    def _move(self) -> None:
        _C._set_grad_enabled(False)
        looks_until = offers_at = 0.0
        while not self._stopped:
            with self._changed:
                while not self._active:
                    if self._closing:
                        return
                    self._changed.wait()
                    self._moved_at = time.monotonic()
                lanes = list(self._active)
            moved = False
            for lane in lanes:
                moved |= lane.advance()
            now = time.monotonic()
            with self._changed:
                self._active = [lane for lane in self._active if lane.queue]
                if moved:
                    self._moved_at = now
                    looks_until = now + _LOOKING
                elif now > looks_until and not (self._waiting and now - self._moved_at < _EAGER):
                    self._changed.wait(_PAUSE)
                    looks_until = time.monotonic() + _LOOKING
            if now > offers_at:
                os.sched_yield()
                offers_at = time.monotonic() + _OFFER
            if now - self._moved_at > _LOOK_FOR_DEPARTURES:
                self._give_up(lanes)

    def _give_up(self, lanes: list[Lane]) -> None:
        """End what waits for ranks that have left."""
        gone = self._departed()
        for lane in lanes if gone else []:
            for work in lane.queue:
                missing = sorted(rank for rank in work.members & set(gone))
                if missing and not work.is_completed():
                    work.end(
                        DistBackendError(
                            f"[{work.name}] rank {missing[0]} has left the process group, by the end of its program or "
                            "destroy_process_group, and takes no part in this"
                        )
                    )
