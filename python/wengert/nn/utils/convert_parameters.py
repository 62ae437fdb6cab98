"""Parameters as one vector, under the name of PyTorch's module."""

from ._grads import parameters_to_vector, vector_to_parameters

__all__ = ["parameters_to_vector", "vector_to_parameters"]
