"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp

from . import gamma


def logpdf(x: Any, df: Any) -> Any:
    """Return the logarithm of the density."""
    return gamma.logpdf(x / 2, df / 2) - np.log(2.0)


def pdf(x: Any, df: Any) -> Any:
    """Return the density."""
    return np.exp(logpdf(x, df))


def cdf(x: Any, df: Any) -> Any:
    """Return the distribution function."""
    return sp.gammainc(df / 2, x / 2)
