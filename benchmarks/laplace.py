"""``python -m benchmarks laplace``: a boundary value problem with parameters, beside SciPy's own solution of it.

On the unit square, -div(k grad u) = 1 with u = 0 at the boundary, where k = exp(sum_i p_i phi_i) with products of
cosines phi_i. Finite volumes on ``size`` by ``size`` cells make a sparse matrix A(p), whose places are known and whose
values are made of p by tensors. The objective is |u|^2. Its value and gradient take the assembly, one factorization,
two solutions, and the way back to p; the yardstick is what ``scipy.sparse.linalg.splu`` and one solution take.

The time that counts is that of the processor, so that other programs do not disturb the comparison.
"""

import argparse
import time

import numpy as np

import wengert as wg

BUDGET = 2.0  # times SciPy's
# What suits matrices that are symmetric and positive definite, for both.
SYMMETRIC = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Laplace:
    """The problem on ``size`` by ``size`` cells with some parameters."""

    def __init__(self, size, parameters=20):
        self.cells = cells = size * size
        centre = (np.arange(size) + 0.5) / size
        modes = [
            np.outer(np.cos(np.pi * (i % 5) * centre), np.cos(np.pi * (i // 5) * centre)).ravel()
            for i in range(parameters)
        ]
        self.modes = wg.tensor(np.stack(modes))  # [parameters, cells]
        number = np.arange(cells).reshape(size, size)
        one = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
        other = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
        self.faces = wg.tensor(one), wg.tensor(other)
        self.places = wg.tensor(np.stack([[*one, *other, *range(cells)], [*other, *one, *range(cells)]]))
        edges = np.zeros((size, size))
        for edge in (edges[0], edges[-1], edges[:, 0], edges[:, -1]):
            edge += 2
        self.edges = wg.tensor(edges.ravel())
        self.load = wg.full((cells,), 1.0 / cells, dtype=wg.float64)

    def matrix(self, p):
        """Return A(p)."""
        k = (p @ self.modes).exp()
        one, other = self.faces
        mean = 2 / (1 / k[one] + 1 / k[other])
        diagonal = (k * self.edges).index_add(0, one, mean).index_add(0, other, mean)
        return wg.sparse_coo_tensor(self.places, wg.cat([-mean, -mean, diagonal]), (self.cells, self.cells))

    def objective(self, p):
        """Return |u|^2."""
        u = wg.sparse.solve(self.matrix(p), self.load, **SYMMETRIC)
        return (u * u).sum()


def timed(function):
    """Return what a function returns, and the seconds of the processor that it took."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def value_and_gradient(problem, p):
    """Return the objective, and its gradient as an array."""
    p.grad = None
    value = problem.objective(p)
    value.backward()
    return value.item(), p.grad.numpy()


def scipy_solution(problem, p):
    """Return SciPy's matrix, and what solves with it."""
    from scipy.sparse.linalg import splu

    with wg.no_grad():
        matrix = wg.sparse.to_scipy(problem.matrix(p).coalesce()).tocsc()
    load = problem.load.numpy()
    return lambda: splu(matrix, **SYMMETRIC).solve(load)


def main(arguments=None):
    """Run the command; return 1 if ``--check`` found the budget exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks laplace", description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="cells along a side; 1000 makes a million unknowns")
    parser.add_argument("--parameters", type=int, default=20)
    parser.add_argument("--check", action="store_true", help="fail if it takes more than twice SciPy's time")
    options = parser.parse_args(arguments)
    problem = Laplace(options.size, options.parameters)
    p = wg.zeros(options.parameters, dtype=wg.float64, requires_grad=True)
    value_and_gradient(Laplace(4, options.parameters), p)  # what is loaded when first used
    (value, gradient), ours = timed(lambda: value_and_gradient(problem, p))
    u, theirs = timed(scipy_solution(problem, p))
    if not np.isclose(value, u @ u, rtol=1e-8):
        raise AssertionError(f"the objective is {value}, but by SciPy {u @ u}")
    ratio = ours / theirs
    print(f"{problem.cells} unknowns, {options.parameters} parameters; |gradient| {np.linalg.norm(gradient):.6g}")
    print(f"value and gradient {ours:.3g} s, SciPy's solution {theirs:.3g} s: {ratio:.2f} times (at most {BUDGET})")
    return int(options.check and ratio > BUDGET)
