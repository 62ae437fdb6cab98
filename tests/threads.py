"""Running a function in several threads at once."""

import threading


def in_threads(count, f, timeout=120):
    """Call f(i) in `count` threads that start together; raise what any of them raised."""
    errors, ready = [], threading.Barrier(count)

    def run(i):
        try:
            ready.wait()
            f(i)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout)
    assert not any(worker.is_alive() for worker in workers), "deadlock"
    if errors:
        raise errors[0]
