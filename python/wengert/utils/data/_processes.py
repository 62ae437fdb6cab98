"""Workers that are processes of their own.

Each has two pipes that nobody else uses, so that one that is killed leaves no lock behind. Three things may end one:

- the program tells it to stop; it finishes what it does, and is terminated if that takes too long;
- the program dies, which the worker sees by its pipe or by its parent;
- it dies by itself, which the program sees at once, as it waits for the pipes and for the processes together.

A thread in the worker reads the pipe of tasks at any time: the program, when it sends one, never waits for a worker
that waits for the program to take a large batch.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import random
import signal
import threading
import time
from multiprocessing import connection
from typing import Any

import numpy as np

import wengert as wg

from . import _wire
from ._failure import Failure
from ._worker import Answer, Plan, work

# Seconds: how long a worker may take to end, also after an error, and how often it looks whether its parent is there.
_PATIENCE, _LITTLE_PATIENCE, _PARENT_CHECK = 5.0, 0.5, 2.0


class Processes:
    """As many processes as a plan says.

    Parameters
    ----------
    plan : Plan
    context : multiprocessing context
        How to start them. Whatever is not ``fork`` has to pickle the dataset.
    """

    def __init__(self, plan: Plan, context: Any) -> None:
        self.owner = os.getpid()
        self.stopped = False
        self.processes: list[Any] = []
        self.tasks: list[Any] = []
        self.answers: list[Any] = []
        for number in range(plan.num_workers):
            task_end, send_end = context.Pipe(duplex=False)
            receive_end, answer_end = context.Pipe(duplex=False)
            _wire.widen(answer_end)
            inherited = (send_end, receive_end) if context.get_start_method() == "fork" else ()
            arguments = plan, number, task_end, answer_end, inherited
            process = context.Process(target=_main, args=arguments, name=f"DataLoader-{number}", daemon=True)
            try:
                process.start()
            except BaseException:
                self.stop()
                raise
            task_end.close()
            answer_end.close()
            self.processes.append(process)
            self.tasks.append(send_end)
            self.answers.append(receive_end)

    def send(self, number: int, task: Any) -> None:
        """Give a worker a task. One that is dead is noticed in `receive`."""
        with contextlib.suppress(BrokenPipeError):
            _wire.send(self.tasks[number], task)

    def receive(self, timeout: float | None) -> Any:
        """Return the next answer of any worker, None if there is none in time.

        Raises
        ------
        RuntimeError
            If a worker has died.
        """
        ready = connection.wait([*self.answers, *(process.sentinel for process in self.processes)], timeout)
        for number, pipe in enumerate(self.answers):  # first what a dead worker has still said
            if pipe in ready:
                try:
                    return _wire.receive(pipe)
                except EOFError:
                    self._report(number)
        for number, process in enumerate(self.processes):
            if process.sentinel in ready:
                self._report(number)
        return None

    def _report(self, number: int) -> None:
        process = self.processes[number]
        process.join(_PATIENCE)
        self.stop(_LITTLE_PATIENCE)
        code = process.exitcode
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            reason = f"DataLoader worker (pid {process.pid}) is killed by signal: {signal.strsignal(-code)} ({name})."
        else:
            reason = f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly with exit code {code}."
        raise RuntimeError(f"{reason} It was worker {number} of {len(self.processes)}.")

    def stop(self, patience: float = _PATIENCE) -> None:
        """End all workers and wait until they are gone. What they still send is thrown away.

        Those that are not gone after `patience` seconds are terminated.
        """
        if self.stopped or os.getpid() != self.owner:  # a process forked later has a copy of this object
            return
        self.stopped = True
        for number in range(len(self.tasks)):
            self.send(number, None)
        deadline = time.monotonic() + patience
        pipes = dict(enumerate(self.answers))
        while any(process.is_alive() for process in self.processes) and time.monotonic() < deadline:
            alive = [process.sentinel for process in self.processes if process.is_alive()]
            ready = connection.wait([*pipes.values(), *alive], max(0.0, deadline - time.monotonic()))
            for number, pipe in list(pipes.items()):
                if pipe in ready and not _wire.discard(pipe):
                    del pipes[number]
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join(1.0)
            if process.is_alive():
                process.kill()
                process.join()
        for pipe in (*self.tasks, *self.answers):
            pipe.close()


def _main(plan: Plan, number: int, task_end: Any, answer_end: Any, inherited: tuple[Any, ...]) -> None:
    """Run one worker process."""
    for pipe in inherited:  # the ends of the program: with a copy here, this side would not see it go
        pipe.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program gets it too, and ends its workers
    seed = plan.seed + number
    wg.set_num_threads(1)
    wg.manual_seed(seed)
    random.seed(seed)
    np.random.seed(np.random.SeedSequence(seed % 2**64).generate_state(4))  # noqa: NPY002  # datasets still use it

    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(task_end, tasks), daemon=True).start()
    where = f"DataLoader worker process {number}"

    def answer(message: tuple[int, Answer, Any]) -> None:
        try:
            _wire.send(answer_end, message)
        except BrokenPipeError:
            raise
        except Exception as error:  # it cannot be pickled
            _wire.send(answer_end, (message[0], Answer.FAILURE, Failure.of(error, where)))

    with contextlib.suppress(BrokenPipeError):  # the program is gone
        work(plan, number, where, tasks.get, answer)


def _read_tasks(task_end: Any, tasks: queue.SimpleQueue[Any]) -> None:
    """Move tasks from the pipe to the queue until there are no more; end the process if it then does not end itself."""
    parent, handle = os.getppid(), multiprocessing.parent_process()
    watched = [task_end] if handle is None else [task_end, handle.sentinel]
    try:
        while True:
            ready = connection.wait(watched, _PARENT_CHECK)
            if task_end in ready:
                task = _wire.receive(task_end)
                tasks.put(task)
                if task is None:
                    break
            elif ready or os.getppid() != parent:
                raise EOFError
    except Exception:  # the program is gone, or was interrupted while it sent a task
        tasks.put(None)
    time.sleep(_PATIENCE)
    os._exit(1)
