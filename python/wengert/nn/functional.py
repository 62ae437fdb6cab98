"""Functions of neural networks: activations, losses, convolutions, normalisation. Generated from the operations' table."""

from wengert._C._nn_functional import *  # noqa: F403
