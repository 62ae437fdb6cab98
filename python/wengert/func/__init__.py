"""Transforms of functions: derivatives and batches of any function of tensors, freely nested.

    >>> import wengert as wg
    >>> per_sample = wg.func.vmap(wg.func.grad(lambda x: (x**2).sum()))
    >>> per_sample(wg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[2., 4.],
            [6., 8.]])

Read `_frames` first: it says how transforms know of each other. `_reverse` and `_jvp` hold the two modes of
differentiation, `_vmap` and `_batched_tensor` the batches, `_dispatch` how an operation finds its batching rule.
"""

from . import implicit
from ._auxiliary import debug_unwrap, functionalize
from ._custom_function import set_up_custom_functions as _set_up_custom_functions
from ._functional_call import functional_call, replace_all_batch_norm_modules_, stack_module_state
from ._grad import grad, grad_and_value
from ._jacobians import hessian, jacfwd, jacrev
from ._jvp import jvp
from ._sparse import Sparsity, sparse_hessian, sparse_jacobian, sparsity
from ._vjp import linearize, vjp
from ._vmap import vmap

_set_up_custom_functions()

__all__ = [
    "Sparsity",
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "implicit",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "sparse_hessian",
    "sparse_jacobian",
    "sparsity",
    "stack_module_state",
    "vjp",
    "vmap",
]
