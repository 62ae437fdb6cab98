"""Alternating timings: A B B A A B ..., so that drift of the machine falls on all alike."""

import gc
from dataclasses import dataclass
from time import perf_counter

import numpy as np

SHORTEST_SAMPLE = 0.01  # seconds; below it the clock and interruptions would show
ROUNDS = (5, 60)


def alternate(steps, seconds, clock=perf_counter, shortest=SHORTEST_SAMPLE):
    """Time several functions in turns.

    Parameters
    ----------
    steps : dict of str to callable
        What to call, by name.
    seconds : float
        About how long to measure in all.
    clock : callable
        Seconds, as it sees them: `time.thread_time` does not see other processes.
    shortest : float
        Least seconds of one measurement.

    Returns
    -------
    dict of str to list of float
        Seconds a call, one entry a round; equal positions were measured next to each other.
    """
    calls = {name: _calls_per_sample(step, clock, shortest) for name, step in steps.items()}
    gc.collect()
    gc.freeze()  # what was there before is not the workload's to walk; its own garbage is
    try:
        once = sum(_seconds_per_call(step, calls[name], clock) * calls[name] for name, step in steps.items())
        rounds = min(max(int(seconds / once), ROUNDS[0]), ROUNDS[1])
        times = {name: [] for name in steps}
        order = list(steps)
        for _ in range(rounds):
            for name in order:
                times[name].append(_seconds_per_call(steps[name], calls[name], clock))
            order.reverse()
    finally:
        gc.unfreeze()
    return times


def _calls_per_sample(step, clock, shortest):
    """How many calls make a sample long enough. The first, warming, call does not count."""
    step()
    return max(1, round(shortest / max(_seconds_per_call(step, 1, clock), 1e-9)))


def _seconds_per_call(step, calls, clock):
    start = clock()
    for _ in range(calls):
        step()
    return (clock() - start) / calls


@dataclass
class Samples:
    """Measurements of several contenders, round by round.

    Attributes
    ----------
    rounds : dict of str to list of float
    scale : float
        What to multiply a measurement by to get the reported unit.
    """

    rounds: dict
    scale: float = 1.0

    def best(self, name):
        """The smallest measurement: the one least disturbed."""
        return min(self.rounds[name]) * self.scale

    def ratio(self, name="wengert", reference="torch"):
        """Best over best."""
        return self.best(name) / self.best(reference)

    def spread(self, name="wengert", reference="torch"):
        """The middle half of the ratios of measurements of one round: first and third quartile."""
        ratios = np.divide(self.rounds[name], self.rounds[reference])
        return tuple(np.quantile(ratios, [0.25, 0.75]).tolist())
