"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp


def logpmf(k: Any, mu: Any) -> Any:
    """Return the logarithm of the probability of a count."""
    return sp.xlogy(k, mu) - mu - sp.gammaln(k + 1)


def pmf(k: Any, mu: Any) -> Any:
    """Return the probability of a count."""
    return np.exp(logpmf(k, mu))


def cdf(k: Any, mu: Any) -> Any:
    """Return the distribution function."""
    return sp.pdtr(k, mu)
