"""What the process takes from the machine: the threads of a backward pass, and memory that is kept for later."""

from __future__ import annotations

from . import _C


def set_num_threads(num: int) -> None:
    """Let independent branches of one backward pass run on several threads.

    The gradients are the same in every bit as on one thread: threads may finish in any order, sums are made in one.
    Small passes run on one thread all the same, and so do passes within a pass. Nodes written in Python and hooks
    take turns. The thread pool starts with the first pass that is worth it; while it works, the BLAS libraries of NumPy
    and SciPy use one thread each.

    Parameters
    ----------
    num : int
        The most threads to use, the caller's among them; 1 at first.

    Raises
    ------
    RuntimeError
        If `num` is not a positive int.

    See Also
    --------
    wengert.autograd.set_multithreading_enabled : forbids it for the passes of one thread.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.set_num_threads(2)
    >>> wg.get_num_threads()
    2
    >>> wg.set_num_threads(1)
    """
    _C._set_num_threads(num)


def get_num_threads() -> int:
    """Return the most threads that one backward pass may use.

    Returns
    -------
    int
        What `set_num_threads` was given last; 1 at first.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.get_num_threads()
    1
    """
    return int(_C._get_num_threads())


def empty_cache() -> None:
    """Give memory that is kept for later tensors and graphs back to the system.

    Memory of what is freed is used again for what comes next, because fresh memory is slow. What nobody wanted for ten
    seconds is given back when something else is freed, and no program is made to hold much more than it used at once.
    So this function is for programs that go on without tensors, or wait, after they used many. The environment variable
    ``WENGERT_CACHE_BYTES`` bounds what is kept for all threads: bytes, or ``500K``, ``64M``, ``2G`` (at first 1 GiB);
    ``0`` keeps none. Up to 8 MiB that another thread keeps for itself are not given back before it ends.

    PyTorch's function of this name, for the memory of a device, is ``torch.accelerator.empty_cache``.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.empty_cache()
    """
    _C._empty_cache()
