"""A training step of a multilayer perceptron: batch 32, layers 64-128-128-10, forward and backward."""

from itertools import pairwise

import numpy as np

from benchmarks.workload import Workload, gradients_of, leaves, random_arrays

BATCH, SIZES = 32, (64, 128, 128, 10)


def data():
    """Parameters, inputs [32,64] and labels [32]."""
    generator = np.random.default_rng(0)
    layers = list(pairwise(SIZES))
    weights = {f"w{i}": (fan_out, fan_in) for i, (fan_in, fan_out) in enumerate(layers)}
    biases = {f"b{i}": (fan_out,) for i, (_, fan_out) in enumerate(layers)}
    parameters = random_arrays(generator, **weights, **biases)
    inputs = generator.standard_normal((BATCH, SIZES[0])).astype(np.float32)
    return parameters, inputs, generator.integers(0, SIZES[-1], BATCH)


def prepare(wg):
    """See the module."""
    functional = wg.nn.functional
    parameters, inputs, labels = data()
    p, x, labels = leaves(wg, parameters), wg.tensor(inputs), wg.tensor(labels)

    def step():
        hidden = functional.relu(functional.linear(x, p["w0"], p["b0"]))
        hidden = functional.relu(functional.linear(hidden, p["w1"], p["b1"]))
        loss = functional.cross_entropy(functional.linear(hidden, p["w2"], p["b2"]), labels)
        return gradients_of(loss, p)

    return step


WORKLOAD = Workload("mlp_step", 0.25, prepare)
