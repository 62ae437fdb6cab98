"""Functions of neural networks: activations, losses, convolutions, normalisation; from the table of operations."""

from wengert._C._nn_functional import *  # noqa: F403
