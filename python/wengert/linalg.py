"""Linear algebra: decompositions, solvers, norms. They come from the table of operations."""

from wengert._C._linalg import *  # noqa: F403

from ._linalg_compositions import cond, matrix_rank, tensorinv, tensorsolve  # noqa: F401
