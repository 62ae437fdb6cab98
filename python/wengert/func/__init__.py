"""Functions of functions."""

from ._sparse import Sparsity, sparse_hessian, sparse_jacobian, sparsity

__all__ = ["Sparsity", "sparse_hessian", "sparse_jacobian", "sparsity"]
