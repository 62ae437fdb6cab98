"""Sparse tensors: matrices of coordinates or compressed rows, with SciPy's arithmetic and derivatives of any order.

    >>> import wengert as wg
    >>> v = wg.tensor([2.0, 4.0, 1.0], requires_grad=True)
    >>> A = wg.sparse_coo_tensor([[0, 1, 1], [0, 1, 0]], v, (2, 2))
    >>> wg.sparse.solve(A, wg.tensor([2.0, 5.0])).sum().backward()
    >>> v.grad
    tensor([-0.3750, -0.2500, -0.2500])

A sparse tensor is a `SparseTensor` (`_tensor.py`, to be read first): an object of the graph whose class keeps a
`Pattern` (`_pattern.py`), which never changes, and a dense tensor of values. Operations on it are found by name in
`_rules.py` and compute with the values: `_elementwise`, `_shapes`, `_indexing`, `_reductions`, `_convert`, and
`_products` and `_solve`, whose numbers are SciPy's (`_bilinear.py`). `_below.py` has what the core asks for, `_make.py`
the ways to make one.

SciPy is loaded when a product or a solution needs it.
"""

from . import _below as _below
from . import _indexing as _indexing
from . import _methods as _methods
from . import _refused as _refused
from ._checks import as_sparse_gradcheck as as_sparse_gradcheck
from ._checks import check_sparse_tensor_invariants as check_sparse_tensor_invariants
from ._convert import from_scipy as from_scipy
from ._convert import to_scipy as to_scipy
from ._make import spdiags as spdiags
from ._products import addmm as addmm
from ._products import mm as mm
from ._products import sampled_addmm as sampled_addmm
from ._reductions import log_softmax as log_softmax
from ._reductions import softmax as softmax
from ._reductions import sum as sum
from ._solve import Factorization as Factorization
from ._solve import solve as solve
from ._solve import splu as splu
from ._solve import spsolve as spsolve
from ._tensor import SparseTensor as SparseTensor

__all__ = [
    "Factorization",
    "SparseTensor",
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "from_scipy",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "solve",
    "spdiags",
    "splu",
    "spsolve",
    "sum",
    "to_scipy",
]
