"""The gamma distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp


def logpdf(x: Any, a: Any) -> Any:
    """Return the logarithm of the density."""
    return sp.xlogy(a - 1, x) - x - sp.gammaln(a)


def pdf(x: Any, a: Any) -> Any:
    """Return the density."""
    return np.exp(logpdf(x, a))


def cdf(x: Any, a: Any) -> Any:
    """Return the distribution function."""
    return sp.gammainc(a, x)
