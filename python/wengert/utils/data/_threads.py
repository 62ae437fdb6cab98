"""Workers that are threads of the program.

They share the dataset, its memory and the default generator with it, start at once and copy nothing: the better choice
where samples are made by NumPy, by this package or by reading files, which let other threads run.
"""

from __future__ import annotations

import queue
import threading
from typing import Any

from ._worker import Plan, work


class Threads:
    """As many threads as a plan says; see `Processes` for what each method does."""

    def __init__(self, plan: Plan) -> None:
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.tasks: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in range(plan.num_workers)]
        for number, tasks in enumerate(self.tasks):
            where = f"DataLoader worker thread {number}"
            arguments = plan, number, where, tasks.get, self.answers.put, BaseException
            threading.Thread(target=work, args=arguments, name=f"DataLoader-{number}", daemon=True).start()

    def send(self, number: int, task: Any) -> None:
        self.tasks[number].put(task)

    def receive(self, timeout: float | None) -> Any:
        try:
            return self.answers.get(timeout=timeout)
        except queue.Empty:
            return None

    def stop(self, patience: float = 0) -> None:
        for tasks in self.tasks:
            tasks.put(None)
