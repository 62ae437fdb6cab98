"""Linear algebra: decompositions, solvers, norms. Generated from the operations' table."""

from wengert._C._linalg import *  # noqa: F403
