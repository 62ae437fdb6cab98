"""`Work`: one communication, from the call that asked for it until its result is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from datetime import timedelta
from typing import Any

from wengert import _C
from wengert._C import Tensor

from ._errors import DistBackendError

# Yields the MPI requests that it waits for; goes on when all of them have completed.
Steps = Generator[list[Any], None, None]

_abandoned: list[Any] = []  # MPI may still write where messages were awaited in vain, so that memory stays


class Work:
    """A communication that may still be going on; what calls with ``async_op=True`` return.

    Tensors that take part must be left alone until `wait` returns.

    Attributes
    ----------
    name : str
        What profiles call it.
    """

    def __init__(
        self,
        name: str,
        steps: Steps,
        *,
        results: Sequence[Tensor] = (),
        finish: Callable[[], None] | None = None,
        timeout: timedelta | None = None,
    ) -> None:
        self.name = name
        self.members: frozenset[int] = frozenset()  # whose end would leave it unfinished, by their rank in the world
        self.source: int | None = None
        self.started = time.monotonic()
        self._steps = steps
        self._requests: list[Any] = []
        self._results, self._finish, self._timeout = list(results), finish, timeout
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._profiles = _C._running_profiles()
        self._began = time.monotonic_ns() if self._profiles else 0
        self._watched: Callable[[int], None] = lambda change: None  # told how many wait

    def advance(self) -> bool:
        """Go on as far as the messages that have arrived allow; called by one thread alone. True when at the end."""
        while not self._done.is_set():
            try:
                if not all(request.Test() for request in self._requests):
                    return False
                self._requests = next(self._steps)
            except StopIteration:
                self.end(None)
            except BaseException as error:  # is raised by wait()
                self.end(error)
        return True

    def end(self, error: BaseException | None) -> None:
        """Tell those who wait that it is over."""
        self._error = error
        if self._requests and error is not None:
            _abandoned.append((self._requests, self._steps))
        else:
            self._steps.close()
        for profile in self._profiles:
            _C._profile_add(profile, f"distributed::{self.name}", self._began, time.monotonic_ns())
        self._requests, self._profiles = [], []
        self._done.set()

    def is_completed(self) -> bool:
        """Return whether it is over, well or not."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Return whether it is over and went well."""
        return self._done.is_set() and self._error is None

    def exception(self) -> BaseException | None:
        """Return the error that ended it, or None."""
        return self._error

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the results are in their tensors.

        Parameters
        ----------
        timeout : timedelta, optional
            How long at most; by default that of the process group.

        Returns
        -------
        bool
            True.

        Raises
        ------
        DistBackendError
            If time is up, a rank has left, or MPI reports an error.
        """
        limit = timeout if timeout is not None and timeout > timedelta(0) else self._timeout
        if not self._done.is_set():
            self._watched(1)
            try:
                self._done.wait(limit.total_seconds() if limit is not None else None)
            finally:
                self._watched(-1)
        if not self._done.is_set():
            raise DistBackendError(
                f"[{self.name}] not finished after {limit}: a rank has not called it, is busy, or hangs; "
                "init_process_group(timeout=...) sets how long to wait"
            )
        if self._error is not None:
            raise self._error
        if self._finish is not None:
            finish, self._finish = self._finish, None
            finish()
        return True

    def synchronize(self) -> None:
        """Wait, with the time limit of the process group."""
        self.wait()

    def result(self) -> list[Tensor]:
        """Return the tensors that it has written, after waiting for it."""
        self.wait()
        return self._results

    def source_rank(self) -> int:
        """Return where a received message came from."""
        if self.source is None:
            raise RuntimeError(f"[{self.name}] source_rank() is known for a message that has been received")
        return self.source

    def __repr__(self) -> str:
        state = "waiting" if not self._done.is_set() else "failed" if self._error else "done"
        return f"<Work {self.name}: {state}>"
