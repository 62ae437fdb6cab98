"""What happens to all when one rank ends.

- An exception that nobody catches is printed as always; then `MPI_Abort` ends every rank. Without that the others would
  wait for messages of a rank that is no more.
- A rank whose program comes to its end, or that destroys its group, says goodbye to the others (one message each). Who
  then waits for it, longer than messages take, gets an error in place of an endless wait.
- A rank that is killed is noticed by the launcher, `mpiexec`, which ends the others.
"""

from __future__ import annotations

import sys
import time
from traceback import format_exception
from types import TracebackType
from typing import Any

_GOODBYE = 1
_ON_THE_WAY = 3.0  # s that messages sent before a goodbye may take


class Departures:
    """Who has left.

    Parameters
    ----------
    communicator
        Of its own: nothing else is sent on it.
    """

    def __init__(self, mpi: Any, communicator: Any) -> None:
        self._mpi, self._communicator = mpi, communicator
        self._noticed: dict[int, float] = {}
        self._sent: list[Any] = []

    def announce(self) -> None:
        """Say goodbye to all others."""
        for rank in range(self._communicator.size):
            if rank != self._communicator.rank and rank not in self._noticed:
                self._sent.append(self._communicator.Isend([b"", 0, self._mpi.BYTE], rank, _GOODBYE))

    def __call__(self) -> dict[int, float]:
        """Return when each was noticed, of those who left long enough ago."""
        status = self._mpi.Status()
        while self._communicator.Iprobe(self._mpi.ANY_SOURCE, _GOODBYE, status):
            rank = status.Get_source()
            self._communicator.Recv([bytearray(), 0, self._mpi.BYTE], rank, _GOODBYE)
            self._noticed[rank] = time.monotonic()
        latest = time.monotonic() - _ON_THE_WAY
        return {rank: noticed for rank, noticed in self._noticed.items() if noticed < latest}


class EndsAll:
    """While installed, an exception that nobody catches ends all ranks after it was printed."""

    def __init__(self, mpi: Any) -> None:
        self._mpi = mpi
        self._before: Any = None

    def install(self) -> None:
        self._before, sys.excepthook = sys.excepthook, self

    def remove(self) -> None:
        if sys.excepthook is self:
            sys.excepthook = self._before

    def __call__(self, kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        world = self._mpi.COMM_WORLD
        try:
            said = f"rank {world.rank} of {world.size} has failed, so all ranks end"
            if self._before is sys.__excepthook__:  # in one piece: other ranks may write at the same time
                lines = [*format_exception(kind, value, traceback), said, "\n"]
                sys.stderr.write("".join(lines))
            else:
                self._before(kind, value, traceback)
                sys.stderr.write(said + "\n")
            sys.stderr.flush()
            sys.stdout.flush()
            time.sleep(0.2)  # until the launcher has passed on what was printed
        finally:
            world.Abort(1)
