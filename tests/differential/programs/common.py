"""What the programs start from and how they end: weights from NumPy's generator, numbers printed in full."""

import numpy as np
import torch


def numbers(seed, *shape):
    """Return a tensor of normal numbers that are the same in both packages."""
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape), dtype=torch.float64)


def fill(module, seed=0, scale=0.3):
    """Give the parameters of a module normal values, in their order; returns the module."""
    generator = np.random.default_rng(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.tensor(scale * generator.standard_normal(tuple(parameter.shape))))
    return module


def show(*values):
    """Print the numbers of tensors, one tensor a line, so that they can be compared."""
    for value in values:
        flat = torch.as_tensor(value).detach().double().reshape(-1).tolist()
        print(" ".join(repr(number) for number in flat))
