"""Functions of neural networks: activations, losses, convolutions, normalisation; from the table of operations."""

from wengert._C._nn_functional import *  # noqa: F403

from ._pooling import max_pool1d, max_pool2d, max_pool3d  # noqa: F401
