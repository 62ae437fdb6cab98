"""HIPS autograd (D. Maclaurin, D. Duvenaud, M. Johnson): NumPy functions, traced at each call."""

import math

import autograd.numpy as anp
from autograd import value_and_grad
from autograd.scipy.linalg import solve_triangular
from autograd.scipy.special import logsumexp

from benchmarks.workloads import elementwise, gaussian_process, mlp, neural_ode, overhead


def _step(function, parameters):
    """A step of the value of `function` and its gradient with respect to a dictionary of arrays."""
    evaluate = value_and_grad(function)

    def step():
        value, gradients = evaluate(parameters)
        return [value, *gradients.values()]

    return step


def chain():
    """`overhead.chain` of 1,000 factors."""
    factor = anp.array([1.000001], dtype=anp.float32)

    def product(p):
        y = p["x"]
        for _ in range(overhead.LOOP):
            y = y * factor
        return y

    return _step(lambda p: anp.sum(product(p)), {"x": anp.ones(1, dtype=anp.float32)})


def mlp_step():
    """`mlp`."""
    parameters, x, labels = mlp.data()
    rows = anp.arange(len(labels))

    def loss(p):
        hidden = anp.maximum(anp.dot(x, p["w0"].T) + p["b0"], 0)
        hidden = anp.maximum(anp.dot(hidden, p["w1"].T) + p["b1"], 0)
        scores = anp.dot(hidden, p["w2"].T) + p["b2"]
        return anp.mean(logsumexp(scores, axis=1) - scores[rows, labels])

    return _step(loss, parameters)


def neural_ode_step():
    """`neural_ode`."""
    parameters, initial = neural_ode.data()

    def loss(p):
        def field(state):
            return anp.dot(anp.tanh(anp.dot(state**3, p["w0"].T) + p["b0"]), p["w1"].T) + p["b1"]

        return anp.mean(neural_ode.integrate(field, initial) ** 2)

    return _step(loss, parameters)


def gp_likelihood():
    """`gaussian_process`."""
    theta, places, values = gaussian_process.data()
    squares = (places[:, None] - places) ** 2
    count = len(places)

    def loss(p):
        amplitude, length, noise = anp.exp(p["theta"])
        covariance = amplitude**2 * anp.exp(-0.5 * squares / length**2) + noise**2 * anp.eye(count)
        factor = anp.linalg.cholesky(covariance)
        whitened = solve_triangular(factor, values, lower=True)
        return (
            0.5 * anp.sum(whitened * whitened)
            + anp.sum(anp.log(anp.diag(factor)))
            + 0.5 * count * math.log(2 * math.pi)
        )

    return _step(loss, {"theta": theta})


def elementwise_step():
    """`elementwise`."""
    x, y = elementwise.data()

    def loss(p):
        x, y = p["x"], p["y"]
        return anp.mean(anp.tanh(x * y) + anp.exp(-x * x) * y - 0.5 * x)

    return _step(loss, {"x": x, "y": y})


PREPARE = {
    "chain_1000": chain,
    mlp.WORKLOAD.name: mlp_step,
    neural_ode.WORKLOAD.name: neural_ode_step,
    gaussian_process.WORKLOAD.name: gp_likelihood,
    elementwise.WORKLOAD.name: elementwise_step,
}
