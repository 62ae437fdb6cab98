"""Functions of functions."""

from . import implicit
from ._sparse import Sparsity, sparse_hessian, sparse_jacobian, sparsity

__all__ = ["Sparsity", "implicit", "sparse_hessian", "sparse_jacobian", "sparsity"]
