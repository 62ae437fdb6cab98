"""Loops over the elements of one tensor, as simulations write them."""

import numpy as np

from benchmarks.workload import Workload, gradients_of

READS = 2_000
WRITES = 1_000


def read_loop(wg):
    """A recurrence that reads ``x[i]``."""
    x = wg.tensor(np.linspace(0.0, 1.0, READS), requires_grad=True)

    def step():
        state = wg.zeros((), dtype=x.dtype)
        for i in range(READS):
            state = 0.9 * state + x[i]
        return gradients_of(state, {"x": x})

    return step


def write_loop(wg):
    """``o[i] = v`` for every element."""
    v = wg.tensor(np.array(2.0), requires_grad=True)
    weights = wg.tensor(np.linspace(0.0, 1.0, WRITES))

    def step():
        o = wg.zeros(WRITES, dtype=v.dtype)
        for i in range(WRITES):
            o[i] = v
        return gradients_of((o * weights).sum(), {"v": v})

    return step


WORKLOADS = (
    Workload("read_loop", 0.03, read_loop, tolerance=1e-12),
    Workload("write_loop", 0.03, write_loop, tolerance=1e-12),
)
