"""Large steps whose speed is that of all cores: a product, a bias with its sum over rows, many branches."""

import numpy as np

from benchmarks.workload import Workload, gradients_of, leaves, random_arrays

SIDE = 1024
ROWS, COLUMNS = 4096, 512
BRANCHES, WIDTH = 64, 64


def matmul(wg):
    """``x @ y`` of two [1024, 1024] in float32, with both gradients."""
    p = leaves(wg, random_arrays(np.random.default_rng(0), x=(SIDE, SIDE), y=(SIDE, SIDE)))
    return lambda: gradients_of((p["x"] @ p["y"]).sum(), p)


def bias_reduce(wg):
    """A bias [512] added to [4096, 512], squashed and summed: its gradient is a sum over rows."""
    arrays = random_arrays(np.random.default_rng(0), x=(ROWS, COLUMNS), bias=(COLUMNS,))
    p = leaves(wg, arrays)
    return lambda: gradients_of((p["x"] + p["bias"]).relu().mean(), p)


def wide_64(wg):
    """64 branches that do not depend on each other: ``tanh(x @ w_i) ** 2``, added up."""
    weights = {f"w{i}": (WIDTH, WIDTH) for i in range(BRANCHES)}
    p = leaves(wg, random_arrays(np.random.default_rng(0), x=(WIDTH, WIDTH), **weights))

    def step():
        branches = [(wg.tanh(p["x"] @ p[name]) ** 2).sum() for name in weights]
        return gradients_of(wg.stack(branches).sum(), p)

    return step


WORKLOADS = (
    Workload("matmul", 1.0, matmul, tolerance=1e-3),
    Workload("bias_reduce", 0.7, bias_reduce),
    Workload("wide_64", 0.5, wide_64, tolerance=1e-3),
)
