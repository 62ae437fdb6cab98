"""A training step of a small convolutional network: batch 32 of 28x28 images, forward and backward."""

import numpy as np

from benchmarks.workload import Workload, gradients_of, leaves

BATCH, SIDE, CLASSES = 32, 28, 10
SHAPES = {
    "conv1": (16, 1, 3, 3),
    "bias1": (16,),
    "conv2": (32, 16, 3, 3),
    "bias2": (32,),
    "output": (CLASSES, 32 * 7 * 7),
    "bias3": (CLASSES,),
}


def prepare(wg):
    """See the module."""
    functional = wg.nn.functional
    generator = np.random.default_rng(0)
    arrays = {
        name: (generator.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        for name, shape in SHAPES.items()
    }
    p = leaves(wg, arrays)
    images = wg.tensor(generator.standard_normal((BATCH, 1, SIDE, SIDE)).astype(np.float32))
    labels = wg.tensor(generator.integers(0, CLASSES, BATCH))

    def layer(x, number):
        x = functional.conv2d(x, p[f"conv{number}"], p[f"bias{number}"], padding=1)
        return functional.max_pool2d(functional.relu(x), 2)

    def step():
        features = layer(layer(images, 1), 2).flatten(1)  # [32,1568]
        loss = functional.cross_entropy(functional.linear(features, p["output"], p["bias3"]), labels)
        return gradients_of(loss, p)

    return step


WORKLOAD = Workload("cnn_step", 1.0, prepare)
