"""An expression over four million elements, forward and backward: memory traffic and its avoidance."""

import numpy as np

from benchmarks.workload import Workload, gradients_of

ELEMENTS = 4_000_000


def data():
    """Two vectors [4,000,000] in float32."""
    generator = np.random.default_rng(0)
    return [generator.standard_normal(ELEMENTS, dtype=np.float32) for _ in range(2)]


def prepare(wg):
    """See the module."""
    x, y = (wg.tensor(array, requires_grad=True) for array in data())

    def step():
        z = wg.tanh(x * y) + wg.exp(-x * x) * y - 0.5 * x
        return gradients_of(z.mean(), {"x": x, "y": y})

    return step


WORKLOAD = Workload("elementwise_4m", 0.5, prepare)
