"""What a worker does, wherever it runs: it takes tasks, and answers each of them.

A task is ``(index, positions)``; its answer ``(index, Answer, what)``, in the order of the tasks. In place of positions
there may be a `Request`.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ._failure import Failure
from ._fetching import EndOfData, Fetcher

_here = threading.local()


class WorkerInfo(NamedTuple):
    """What `get_worker_info` tells.

    Attributes
    ----------
    id : int
        The number of the worker, from 0.
    num_workers : int
    seed : int
        Of this worker and this epoch.
    dataset : Dataset
        Its copy of the dataset; the dataset itself in a thread.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """Return which worker this is.

    Returns
    -------
    WorkerInfo or None
        With the attributes ``id``, ``num_workers``, ``seed`` and ``dataset``; None outside of workers.

    Examples
    --------
    >>> from wengert.utils.data import get_worker_info
    >>> print(get_worker_info())
    None
    """
    return getattr(_here, "info", None)


class Request(enum.Enum):
    """What a task may be in place of positions."""

    START_OVER = enum.auto()  # with the dataset, as persistent workers do for every epoch


class Answer(enum.Enum):
    """What came of a task."""

    DATA = enum.auto()
    END = enum.auto()
    FAILURE = enum.auto()
    STARTED_OVER = enum.auto()


class Plan(NamedTuple):
    """What all workers of a loader have in common."""

    dataset: Any
    make_fetcher: Callable[[], Fetcher]
    init: Callable[[int], Any] | None
    num_workers: int
    seed: int


def work(
    plan: Plan,
    number: int,
    where: str,
    take: Callable[[], Any],
    answer: Callable[[Any], None],
    caught: type[BaseException] = Exception,
) -> None:
    """Answer tasks until `take` returns None. Exceptions become answers; those of the start answer every task."""
    _here.info = WorkerInfo(number, plan.num_workers, plan.seed + number, plan.dataset)
    fetcher: Fetcher | None = None
    failure: Failure | None = None
    try:
        if plan.init is not None:
            plan.init(number)
        fetcher = plan.make_fetcher()
    except caught as error:
        failure = Failure.of(error, where)
    while (task := take()) is not None:
        index, positions = task
        if failure is not None:
            answer((index, Answer.FAILURE, failure))
            continue
        try:
            if positions is Request.START_OVER:
                fetcher = plan.make_fetcher()
                result: tuple[int, Answer, Any] = (index, Answer.STARTED_OVER, None)
            else:
                assert fetcher is not None
                result = (index, Answer.DATA, fetcher.fetch(positions))
        except EndOfData:
            result = (index, Answer.END, None)
        except caught as error:
            result = (index, Answer.FAILURE, Failure.of(error, where))
        answer(result)
        del result  # do not keep a batch while waiting
