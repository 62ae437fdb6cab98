"""HIPS autograd's names: functions of NumPy's arrays, and their derivatives as arrays.

    >>> import wengert.compat.autograd.numpy as np
    >>> from wengert.compat.autograd import grad
    >>> float(grad(lambda x: np.sin(x) ** 2)(0.5))
    0.8414709848078965

A program that imports `autograd` runs as it is by ``python -m wengert.as_autograd program.py``, or after
`wengert.as_autograd.install`.

Inside a function that is differentiated its argument is an `ArrayBox` (`_boxes.py`, to be read first), which looks like
an array and holds a tensor; NumPy hands every function that is called with one over to it. Everything else is as in
`autograd`: `differential_operators` has what is made of `make_vjp` and `make_jvp`, `extend` the primitives of users.
"""

from __future__ import annotations

from .builtins import dict, isinstance, list, tuple, type
from .differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from .extend import primitive

__all__ = [
    "checkpoint", "deriv", "dict", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian",
    "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "isinstance", "jacobian", "list",
    "make_ggnvp", "make_hvp", "make_jvp", "make_jvp_reversemode", "make_vjp", "multigrad_dict", "primitive",
    "tensor_jacobian_product", "tuple", "type", "value_and_grad", "vector_jacobian_product",
]  # fmt: skip
