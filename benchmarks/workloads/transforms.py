"""Transforms of functions: batches, derivatives of samples, and whole Jacobians."""

from itertools import repeat

import numpy as np

from benchmarks.workload import Workload, random_arrays

LOOP = 100


def six(wg):
    """A function of six operations."""
    return lambda a: (((a * 2) + 1).sin() * a).exp().sum()


def often(transform):
    """Call what `transform(wg)` makes on a small batch, again and again."""

    def prepare(wg):
        function = transform(wg)
        x = wg.tensor(np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32))

        def step():
            for _ in repeat(None, LOOP):
                result = function(x)
            return [result]

        return step

    return prepare


def hessian(wg):
    """Second derivatives of a function of 20 numbers."""
    function = wg.func.hessian(lambda p: (p**3).sum() * p.sum())
    x = wg.tensor(np.linspace(-1, 1, 20, dtype=np.float32))
    return lambda: [function(x)]


def jacobian(wg):
    """1,000 rows, by reverse mode."""
    function = wg.func.jacrev(lambda p: (p * 2).sin())
    x = wg.tensor(np.linspace(-1, 1, 1000, dtype=np.float32))
    return lambda: [function(x)]


def per_sample_gradients(wg):
    """The gradients of a small network for each of 256 samples."""
    generator = np.random.default_rng(0)
    arrays = random_arrays(generator, first=(32, 20), second=(10, 32))
    parameters = [wg.tensor(array) for array in arrays.values()]
    x = wg.tensor(generator.standard_normal((256, 20)).astype(np.float32))
    classes = wg.tensor(generator.integers(0, 10, 256))
    functional = wg.nn.functional

    def loss(parameters, x, label):
        hidden = wg.tanh(functional.linear(x, parameters[0]))
        scores = functional.linear(hidden, parameters[1])
        return functional.cross_entropy(scores[None], label[None])

    function = wg.func.vmap(wg.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: function(parameters, x, classes)


WORKLOADS = (
    Workload("vmap", 0.15, often(lambda wg: wg.func.vmap(six(wg))), repeats=LOOP),
    Workload("vmap_grad", 0.1, often(lambda wg: wg.func.vmap(wg.func.grad(six(wg)))), repeats=LOOP),
    Workload("hessian_20", 0.1, hessian),
    Workload("jacrev_1000", 0.3, jacobian),
    Workload("per_sample_gradients", 0.35, per_sample_gradients),
)
