"""Student's distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp


def logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the density."""
    z = (x - loc) / scale
    head = sp.gammaln((df + 1) / 2) - sp.gammaln(df / 2) - np.log(np.pi * df) / 2 - np.log(scale)
    return head - (df + 1) / 2 * np.log1p(z * z / df)


def pdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the density."""
    return np.exp(logpdf(x, df, loc, scale))


def cdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the distribution function."""
    return sp.stdtr(df, (x - loc) / scale)


def logcdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the distribution function."""
    return np.log(cdf(x, df, loc, scale))
