"""The multivariate normal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np


def logpdf(x: Any, mean: Any, cov: Any, allow_singular: bool = False) -> Any:
    """Return the logarithm of the density, of vectors in the last dimension."""
    if allow_singular:
        raise NotImplementedError("[multivariate_normal] allow_singular=True has no counterpart; leave it out")
    away = x - mean
    if np.ndim(cov) < 2:
        cov = cov * np.eye(np.shape(away)[-1])
    solved = np.swapaxes(np.linalg.solve(cov, np.reshape(away, (-1, np.shape(away)[-1])).T), 0, 1)
    squares = np.sum(np.reshape(away, np.shape(solved)) * solved, -1)
    squares = np.reshape(squares, np.shape(away)[:-1])
    return -(squares + np.linalg.slogdet(cov)[1] + np.shape(away)[-1] * np.log(2 * np.pi)) / 2


def pdf(x: Any, mean: Any, cov: Any, allow_singular: bool = False) -> Any:
    """Return the density."""
    return np.exp(logpdf(x, mean, cov, allow_singular))


def entropy(mean: Any, cov: Any) -> Any:
    """Return the entropy."""
    return (np.shape(cov)[-1] * (1 + np.log(2 * np.pi)) + np.linalg.slogdet(cov)[1]) / 2
