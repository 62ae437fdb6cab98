"""Linear algebra: decompositions, solvers, norms. They come from the table of operations."""

from wengert._C import _LinAlgError as LinAlgError  # noqa: F401
from wengert._C._linalg import *  # noqa: F403
from wengert._missing import advise as _advise

_advise(globals())
