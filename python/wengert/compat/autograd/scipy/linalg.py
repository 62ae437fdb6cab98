"""Triangular and Sylvester's systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

import wengert

from .._boxes import boxed, isbox, tensor
from .._forwarding import forward


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, **options: Any) -> Any:
    """Return `scipy.linalg.solve_triangular`."""
    if not isbox(a) and not isbox(b):
        return scipy.linalg.solve_triangular(a, b, trans, lower, **options)
    matrix, right = tensor(a), tensor(b)
    if trans in (1, 2, "T", "C"):
        matrix, lower = (matrix.mH if trans in (2, "C") else matrix.mT), not lower
    columns = right.unsqueeze(-1) if right.ndim == 1 else right
    result = wengert.linalg.solve_triangular(matrix, columns, upper=not lower)
    return boxed(result.squeeze(-1) if right.ndim == 1 else result)


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """Return `scipy.linalg.solve_sylvester`, by one system of equations for all elements."""
    if not any(isbox(value) for value in (a, b, q)):
        return scipy.linalg.solve_sylvester(a, b, q)
    m, n = np.shape(q)
    whole = np.kron(a, np.eye(n)) + np.kron(np.eye(m), np.transpose(b))
    return np.reshape(np.linalg.solve(whole, np.ravel(q)), (m, n))


forward(globals(), scipy.linalg)
