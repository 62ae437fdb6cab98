"""SciPy's special functions, distributions, triangular systems and convolutions, of boxes and of arrays."""

from __future__ import annotations

from . import linalg as linalg
from . import signal as signal
from . import special as special
from . import stats as stats
