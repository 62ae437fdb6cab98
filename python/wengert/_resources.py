"""What the process takes from the machine: threads, and memory that is kept for later."""

from __future__ import annotations

from . import _C


def set_num_threads(num: int) -> None:
    """Set how many threads one operation, or one backward pass, may use.

    Large operations are cut into parts that threads take one after the other. Once this function was called,
    independent branches of a backward pass run side by side too; nodes written in Python and hooks may then run on any
    thread, one at a time. Results are the same in every bit for any number of threads: where they are sums, the parts
    and their order do not depend on it. Only work that takes long enough to pay for waking a thread is shared, and
    what runs inside such work stays on its thread. While branches of a pass run side by side, the BLAS libraries of
    NumPy and SciPy use one thread each; otherwise they have as many as they are set to themselves.

    Parameters
    ----------
    num : int
        The most threads to use, the caller's among them. At first what the environment says in ``WENGERT_NUM_THREADS``
        or ``OMP_NUM_THREADS``, else the number of processors that the process may run on.

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
    >>> before = wg.get_num_threads()
    >>> wg.set_num_threads(2)
    >>> wg.get_num_threads()
    2
    >>> wg.set_num_threads(before)
    """
    _C._set_num_threads(num)


def get_num_threads() -> int:
    """Return the most threads that one operation or backward pass may use.

    Returns
    -------
    int
        What `set_num_threads` was given last, or what it says of the beginning.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.get_num_threads() >= 1
    True
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
