"""A long short-term memory cell over 50 steps: batch 8, inputs 16, hidden 32, forward and backward.

The cell is written out, as people write who change it. Hochreiter and Schmidhuber (1997).
"""

import numpy as np

from benchmarks.workload import Workload, gradients_of, leaves, random_arrays

STEPS, BATCH, INPUTS, HIDDEN = 50, 8, 16, 32


def prepare(wg):
    """See the module."""
    functional = wg.nn.functional
    generator = np.random.default_rng(0)
    p = leaves(
        wg,
        random_arrays(generator, w_x=(4 * HIDDEN, INPUTS), w_h=(4 * HIDDEN, HIDDEN), b=(4 * HIDDEN,), out=(1, HIDDEN)),
    )
    sequence = wg.tensor(generator.standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32))

    def step():
        hidden = cell = wg.zeros(BATCH, HIDDEN)
        for x in sequence.unbind(0):
            gates = functional.linear(x, p["w_x"], p["b"]) + functional.linear(hidden, p["w_h"])
            keep, enter, candidate, show = gates.chunk(4, 1)  # [8,32] each
            cell = keep.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
            hidden = show.sigmoid() * cell.tanh()
        return gradients_of(functional.linear(hidden, p["out"]).pow(2).mean(), p)

    return step


WORKLOAD = Workload("lstm_50", 0.15, prepare)
