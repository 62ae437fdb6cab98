"""What a workload is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Workload:
    """One thing that people do, written once for both packages.

    Attributes
    ----------
    name : str
    budget : float
        The most time Wengert may take, as a share of PyTorch's.
    prepare : callable
        Takes the module and returns a function without arguments: the step that is timed. A step
        returns values and gradients, always in the same order.
    repeats : int
        How many times a step does what is to be reported; the reported time is that of one.
    tolerance : float
        How far results may differ, relative to their largest element.
    """

    name: str
    budget: float
    prepare: Callable
    repeats: int = 1
    tolerance: float = 1e-4


def leaves(wg, arrays):
    """Leaf tensors that require gradients, by the names of `arrays`."""
    return {name: wg.tensor(array, requires_grad=True) for name, array in arrays.items()}


def random_arrays(generator, **shapes):
    """Float32 arrays scaled like weights: unit variance over the root of the last dimension."""
    return {
        name: (generator.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        for name, shape in shapes.items()
    }


def gradients_of(loss, parameters):
    """Run the backward pass and return the loss with the gradients, which are taken off the leaves."""
    loss.backward()
    results = [loss]
    for parameter in parameters.values():
        results.append(parameter.grad)
        parameter.grad = None
    return results
