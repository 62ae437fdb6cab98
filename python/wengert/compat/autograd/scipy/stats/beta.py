"""The beta distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp


def logpdf(x: Any, a: Any, b: Any) -> Any:
    """Return the logarithm of the density."""
    return sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b)


def pdf(x: Any, a: Any, b: Any) -> Any:
    """Return the density."""
    return np.exp(logpdf(x, a, b))


def cdf(x: Any, a: Any, b: Any) -> Any:
    """Return the distribution function."""
    return sp.betainc(a, b, x)
