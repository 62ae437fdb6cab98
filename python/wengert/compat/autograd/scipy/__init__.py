"""SciPy's special functions, distributions, triangular systems, convolutions and `odeint`, of boxes and of arrays."""

from __future__ import annotations

from . import integrate as integrate
from . import linalg as linalg
from . import signal as signal
from . import special as special
from . import stats as stats
