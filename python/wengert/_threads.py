"""How many threads one backward pass may use."""

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
