"""`numpy.linalg`, whose functions take boxes as they are."""

from __future__ import annotations

import numpy as _np

from .._forwarding import forward as _forward

_forward(globals(), _np.linalg)
