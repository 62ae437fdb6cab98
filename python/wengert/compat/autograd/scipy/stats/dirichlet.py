"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp


def logpdf(x: Any, alpha: Any) -> Any:
    """Return the logarithm of the density, of parts in the first dimension."""
    powers = np.transpose(sp.xlogy(np.transpose(np.transpose(x) * 0 + alpha - 1), x))
    return np.sum(powers, -1) + sp.gammaln(np.sum(alpha)) - np.sum(sp.gammaln(alpha))


def pdf(x: Any, alpha: Any) -> Any:
    """Return the density."""
    return np.exp(logpdf(x, alpha))
