"""The normal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp


def logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the density."""
    return -(((x - loc) / scale) ** 2) / 2 - np.log(scale) - np.log(2 * np.pi) / 2


def pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the density."""
    return np.exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the distribution function."""
    return sp.ndtr((x - loc) / scale)


def logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the distribution function."""
    return sp.log_ndtr((x - loc) / scale)


def sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the probability of what is greater."""
    return sp.ndtr((loc - x) / scale)


def logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the probability of what is greater."""
    return sp.log_ndtr((loc - x) / scale)
