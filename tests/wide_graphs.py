"""Graphs with enough to do for several threads."""

import numpy as np

import wengert as wg


def wide(chains=8, steps=4, n=256):
    """Independent chains from a few leaves to one number."""
    rng = np.random.default_rng(0)
    leaves = [wg.tensor(rng.standard_normal((n, n)) / n**0.5, requires_grad=True) for _ in range(4)]
    total = None
    for chain in range(chains):
        y = leaves[chain % 4]
        for step in range(steps):
            y = (y @ leaves[(chain + step) % 4]).tanh()
        total = y.sum() if total is None else total + (y * y).sum()
    return leaves, total


def bits(tensors):
    return [np.asarray(t.detach()).tobytes() for t in tensors]
