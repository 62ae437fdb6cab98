"""Objects through a pipe: the memory of arrays and tensors goes by itself, and is not copied into a pickle first."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pickle
import struct
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import wengert as wg
from wengert._C import Tensor

_LENGTH = struct.Struct("<q")


def widen(connection: Connection) -> None:
    """Let a pipe hold as much as users may ask for, where the system can do that: fewer turns for large batches."""
    with contextlib.suppress(AttributeError, OSError):
        fcntl.fcntl(connection.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)


class _Pickler(pickle.Pickler):
    """Sends plain tensors of the CPU as the arrays that share their memory; what arrives is nobody else's, no copy."""

    def reducer_override(self, obj: Any) -> Any:
        plain = type(obj) is Tensor and not obj.requires_grad and not vars(obj)
        if not plain or obj.device.type != "cpu" or not obj.is_contiguous():
            return NotImplemented
        return wg.from_numpy, (obj.numpy(),)


def send(connection: Connection, message: Any) -> None:
    """Write a message; returns when all of it is in the pipe."""
    buffers: list[pickle.PickleBuffer] = []
    body = io.BytesIO()
    _Pickler(body, protocol=5, buffer_callback=buffers.append).dump(message)
    pieces = [body.getbuffer(), *(buffer.raw() for buffer in buffers)]
    with io.FileIO(connection.fileno(), "w", closefd=False) as pipe:
        _write(pipe, memoryview(_LENGTH.pack(len(pieces)) + b"".join(_LENGTH.pack(piece.nbytes) for piece in pieces)))
        for piece in pieces:
            _write(pipe, piece)


def receive(connection: Connection) -> Any:
    """Read a message.

    Raises
    ------
    EOFError
        If the other side is gone, also in the middle of a message.
    """
    with io.FileIO(connection.fileno(), "r", closefd=False) as pipe:
        (count,) = _LENGTH.unpack(_read(pipe, _LENGTH.size))
        sizes = struct.unpack(f"<{count}q", _read(pipe, count * _LENGTH.size))
        body, *buffers = (_read(pipe, size) for size in sizes)
    return pickle.loads(body, buffers=buffers)


def discard(connection: Connection) -> bool:
    """Throw away what is in a pipe that is ready, wherever in a message that starts; return whether more may come."""
    return bool(os.read(connection.fileno(), 1 << 20))


def _write(pipe: io.FileIO, piece: memoryview) -> None:
    while piece.nbytes:
        piece = piece[pipe.write(piece) :]


def _read(pipe: io.FileIO, size: int) -> memoryview:
    memory = memoryview(np.empty(size, np.uint8))  # type: ignore[arg-type]  # a buffer before Python 3.12 too
    filled = 0
    while filled < size:
        count = pipe.readinto(memory[filled:])
        if not count:
            raise EOFError("the other end of the pipe is closed")
        filled += count
    return memory
