"""The MPI library that messages go through, as mpi4py finds it, and tensors as its buffers.

Nothing here is imported before a program asks for a process group: `import wengert.distributed` works without MPI.
Messages are bytes to MPI. What they mean is known here (`_reductions.py` adds them), so a dtype that MPI has no name
for, such as bfloat16, travels like any other.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from wengert._C import Tensor

_REMEDY = "pip install 'wengert[mpi]', and an MPI library (pip install mpich, or the one of your cluster)"


def is_mpi_available() -> bool:
    """Return whether mpi4py is installed, through which this package uses MPI.

    Examples
    --------
    >>> import wengert.distributed as dist
    >>> dist.is_mpi_available()
    True
    """
    return importlib.util.find_spec("mpi4py") is not None


def load() -> Any:
    """Return ``mpi4py.MPI``, initialized.

    Raises
    ------
    RuntimeError
        If there is no mpi4py or no MPI library, or this one cannot be called from another thread than the main one.
    """
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:  # mpi4py says RuntimeError where it finds no library
        raise RuntimeError(f"[init_process_group] MPI cannot be loaded: {error}; {_REMEDY}") from error
    if not mpi.Is_initialized():
        mpi.Init_thread(mpi.THREAD_MULTIPLE)
    if mpi.Query_thread() < mpi.THREAD_SERIALIZED:
        raise RuntimeError(
            "[init_process_group] MPI was initialized for calls from the main thread alone, but messages progress on a "
            "thread of their own; leave mpi4py.rc.threads at True, or give Init_thread MPI.THREAD_MULTIPLE"
        )
    return mpi


def memory_of(mpi: Any, tensor: Tensor) -> Any:
    """Return the bytes of a contiguous tensor of the CPU, without a copy. The tensor must outlive the message."""
    return mpi.buffer.fromaddress(tensor.data_ptr(), tensor.nbytes)
