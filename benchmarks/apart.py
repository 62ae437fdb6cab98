"""Each package in a process of its own: the way to time several threads.

In one process the threads of the package that has just run go on looking for work for a while, on the very
processors that the other one is timed on. Here the processes take turns; each times one sample of a step,
and rests until it is asked again.
"""

import subprocess
import sys
from time import perf_counter, sleep

from benchmarks.measure import ROUNDS

REST = 0.3  # seconds: longer than idle threads of either package look for work
SAMPLE = 0.2  # seconds of one measurement


class Contender:
    """A package in its process, with one prepared step.

    Parameters
    ----------
    package, workload : str
    threads : int
    """

    def __init__(self, package, workload, threads):
        program = [sys.executable, "-m", "benchmarks.apart", package, workload, str(threads)]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self):
        """Seconds of one step: the least of a sample."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a process ended with {self.process.wait()} instead of an answer")
        return float(answer)

    def end(self):
        """Let the process end."""
        self.process.stdin.close()
        self.process.wait()


def alternate_apart(packages, workload, threads, seconds):
    """Time one workload in turns; what `measure.alternate` gives."""
    contenders = {package: Contender(package, workload, threads) for package in packages}
    try:
        rounds = min(max(int(seconds / (len(packages) * (SAMPLE + REST))), ROUNDS[0]), ROUNDS[1])
        times = {package: [] for package in packages}
        order = list(packages)
        for _ in range(rounds):
            for package in order:
                sleep(REST)
                times[package].append(contenders[package].seconds())
            order.reverse()
    finally:
        for contender in contenders.values():
            contender.end()
    return times


def serve(package, workload, threads):
    """In the process of one package: for each line that comes, time a sample and print its least."""
    from benchmarks.run import load
    from benchmarks.workloads import WORKLOADS

    step = next(w for w in WORKLOADS if w.name == workload).prepare(load(package, threads))
    step()
    for _ in sys.stdin:
        best, end = float("inf"), perf_counter() + SAMPLE
        while perf_counter() < end:
            start = perf_counter()
            step()
            best = min(best, perf_counter() - start)
        print(best, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
