"""Marginal likelihood of a Gaussian process with 200 observations, and its gradient, in float64.

Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), equation 2.30.
"""

import math

import numpy as np

from benchmarks.workload import Workload, gradients_of

OBSERVATIONS = 200


def data():
    """Logarithms of amplitude, length and noise; places [200]; observations [200]."""
    generator = np.random.default_rng(0)
    places = np.sort(generator.uniform(0, 10, OBSERVATIONS))
    values = np.sin(places) + 0.1 * generator.standard_normal(OBSERVATIONS)
    return np.log([1.0, 1.5, 0.2]), places, values


def prepare(wg):
    """See the module."""
    hyperparameters, places, values = data()
    theta = wg.tensor(hyperparameters, requires_grad=True)
    places, values = wg.tensor(places), wg.tensor(values)[:, None]
    squares = (places[:, None] - places) ** 2
    identity = wg.eye(OBSERVATIONS, dtype=places.dtype)

    def step():
        amplitude, length, noise = theta.exp().unbind()
        covariance = amplitude**2 * wg.exp(-0.5 * squares / length**2) + noise**2 * identity
        factor = wg.linalg.cholesky(covariance)
        whitened = wg.linalg.solve_triangular(factor, values, upper=False)  # [200,1]
        loss = (
            0.5 * (whitened * whitened).sum()
            + factor.diagonal().log().sum()
            + 0.5 * OBSERVATIONS * math.log(2 * math.pi)
        )
        return gradients_of(loss, {"theta": theta})

    return step


WORKLOAD = Workload("gp_likelihood_200", 0.6, prepare, tolerance=1e-8)
