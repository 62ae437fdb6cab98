"""Transforms of functions: derivatives and batches of any function of tensors, freely nested.

    >>> import wengert as wg
    >>> per_sample = wg.func.vmap(wg.func.grad(lambda x: (x**2).sum()))
    >>> per_sample(wg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[2., 4.],
            [6., 8.]])

Read `_frames` first: it says how transforms know of each other. `_vjp` and `_jvp` hold the two modes of
differentiation, `_vmap` and `_batched_tensor` the batches; how operations run on batches is the core's affair
(src/ops/batching/batch.h), and `_handlers` has the functions that are no operations.

Derivatives with more structure have packages of their own: `_sparse` (Jacobians and Hessians by coloring), `implicit`
(solutions of equations), `_jet` (Taylor series). They walk recorded graphs, with what the table says of each node.
"""

from . import _handlers, implicit  # noqa: F401  the first for its handlers
from ._auxiliary import debug_unwrap, functionalize
from ._batched_tensor import NotBatchableError
from ._control_flow import cond, fori_loop, scan, while_loop
from ._custom_rules import custom_jvp, custom_vjp
from ._functional_call import functional_call, replace_all_batch_norm_modules_, stack_module_state
from ._grad import grad, grad_and_value, value_and_grad
from ._handlers.custom_function import set_up_custom_functions as _set_up_custom_functions
from ._jacobians import hessian, jacfwd, jacrev
from ._jet._api import jet, nth_derivatives
from ._jvp import jvp
from ._separable import batched_jacobian, jacobian_diagonal
from ._sparse._api import sparse_hessian, sparse_jacobian, sparsity
from ._sparse._plan import Sparsity
from ._vjp import linearize, vjp
from ._vmap import vmap

_set_up_custom_functions()

__all__ = [
    "NotBatchableError",
    "Sparsity",
    "batched_jacobian",
    "cond",
    "custom_jvp",
    "custom_vjp",
    "debug_unwrap",
    "fori_loop",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "implicit",
    "jacfwd",
    "jacobian_diagonal",
    "jacrev",
    "jet",
    "jvp",
    "linearize",
    "nth_derivatives",
    "replace_all_batch_norm_modules_",
    "scan",
    "sparse_hessian",
    "sparse_jacobian",
    "sparsity",
    "stack_module_state",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
