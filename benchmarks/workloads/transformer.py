"""A transformer block, batch 8, 64 positions, width 128, 4 heads: forward and backward.

Attention and a perceptron, each behind a layer norm and beside a residual (Vaswani et al., 2017, in
the order of Radford et al., 2019).
"""

import math

import numpy as np

from benchmarks.workload import Workload, gradients_of, leaves, random_arrays

BATCH, LENGTH, WIDTH, HEADS = 8, 64, 128, 4


def parameters(generator):
    """Weights of the four linear maps, biases, and scales and shifts of two layer norms."""
    arrays = random_arrays(
        generator,
        qkv=(3 * WIDTH, WIDTH),
        project=(WIDTH, WIDTH),
        expand=(4 * WIDTH, WIDTH),
        contract=(WIDTH, 4 * WIDTH),
    )
    biases = {f"{name}_bias": np.zeros(len(array), np.float32) for name, array in arrays.items()}
    norms = {f"scale{i}": np.ones(WIDTH, np.float32) for i in (1, 2)}
    norms |= {f"shift{i}": np.zeros(WIDTH, np.float32) for i in (1, 2)}
    return arrays | biases | norms


def prepare(wg):
    """See the module."""
    functional = wg.nn.functional
    generator = np.random.default_rng(0)
    p = leaves(wg, parameters(generator))
    inputs = wg.tensor(generator.standard_normal((BATCH, LENGTH, WIDTH)).astype(np.float32))

    def linear(x, name):
        return functional.linear(x, p[name], p[f"{name}_bias"])

    def norm(x, number):
        return functional.layer_norm(x, (WIDTH,), p[f"scale{number}"], p[f"shift{number}"])

    def attention(x):
        heads = linear(x, "qkv").view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = heads.unbind(0)  # [8,4,64,32] each
        scores = query @ key.transpose(-2, -1) * (1.0 / math.sqrt(WIDTH // HEADS))
        mixed = functional.softmax(scores, dim=-1) @ value
        return linear(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH), "project")

    def step():
        x = inputs + attention(norm(inputs, 1))
        x = x + linear(functional.gelu(linear(norm(x, 2), "expand")), "contract")
        return gradients_of(x.pow(2).mean(), p)

    return step


WORKLOAD = Workload("transformer_block", 0.8, prepare)
