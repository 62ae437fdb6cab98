"""The products of a sparse matrix, as differentiable functions of its values.

Three functions are closed under differentiation: the derivatives of each are made of the three again, so that every
order and both modes follow. With A(v) the matrix of values v at the places (r_k, c_k) of a coalesced pattern:

    multiply(v, X)    A(v) X, or A(v)^T X                       [rows, n] from [columns, n]
    sample(G, X)      v_k = sum_j G[r_k, j] X[c_k, j]           the gradient of multiply with respect to v
    restricted(a, b)  A(a) B(b) at the places of a third pattern, either factor transposed

None of them conjugates: derivatives of complex ones are written with conjugates where they belong. SciPy computes them
from the memory of the tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C
from wengert.autograd._custom_function.function import Function

from ._numbers import array_of, conjugated, tensor_of
from ._pattern import Pattern

BLOCK = 1 << 16  # elements of a pattern that `sample` takes at once, so that what it gathers stays in cache


def multiply(pattern: Pattern, values: Any, matrix: Any, transposed: bool = False) -> Any:
    """Return A(values) @ matrix, with the transpose of A on request."""
    return applied(Multiply, values, matrix, pattern, transposed)


def sample(pattern: Pattern, left: Any, right: Any) -> Any:
    """Return the elements of left @ right^T at the places of the pattern."""
    return applied(Sample, left, right, pattern)


def restricted(a: Any, b: Any, patterns: tuple[Pattern, Pattern, Pattern], transposed: tuple[bool, bool]) -> Any:
    """Return the elements of A @ B at the places of the third pattern; `transposed` says which factor is."""
    return applied(Restricted, a, b, patterns, transposed)


def applied(function: Any, first: Any, second: Any, *constants: Any) -> Any:
    """Apply a Function of two tensors; where nobody asks for derivatives, its forward alone."""
    for tensor in (first, second):
        if _C._asks_derivative(tensor) or _C._is_sample(tensor):
            return function.apply(first, second, *constants)
    return function.forward(first, second, *constants)


class Multiply(Function):
    @staticmethod
    def forward(values: Any, matrix: Any, pattern: Pattern, transposed: bool) -> Any:
        factor = pattern.matrix(array_of(values))
        return tensor_of((factor.T if transposed else factor) @ array_of(matrix), matrix)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        values, matrix, ctx.pattern, ctx.transposed = inputs
        ctx.save_for_backward(values, matrix)
        ctx.save_for_forward(values, matrix)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        values, matrix = ctx.saved_tensors
        of_values = of_matrix = None
        if ctx.needs_input_grad[0]:
            left, right = grad, conjugated(matrix)
            of_values = sample(ctx.pattern, *((right, left) if ctx.transposed else (left, right)))
        if ctx.needs_input_grad[1]:
            of_matrix = multiply(ctx.pattern, conjugated(values), grad, not ctx.transposed)
        return of_values, of_matrix, None, None

    @staticmethod
    def jvp(ctx: Any, values_t: Any, matrix_t: Any, *_: Any) -> Any:
        values, matrix = ctx.saved_tensors
        parts = []
        if values_t is not None:
            parts.append(multiply(ctx.pattern, values_t, matrix, ctx.transposed))
        if matrix_t is not None:
            parts.append(multiply(ctx.pattern, values, matrix_t, ctx.transposed))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    @staticmethod
    def vmap(info: Any, in_dims: Any, values: Any, matrix: Any, pattern: Pattern, transposed: bool) -> Any:
        if in_dims[0] is None:  # one product with the columns of all samples
            matrix = matrix.movedim(in_dims[1], -1)
            product = multiply(pattern, values, matrix.reshape(matrix.shape[0], -1), transposed)
            return product.reshape(-1, *matrix.shape[1:]), 2
        rows, columns = pattern.axes[::-1] if transposed else pattern.axes
        values = values.movedim(in_dims[0], 0)
        matrix = matrix if in_dims[1] is None else matrix.movedim(in_dims[1], 0)
        terms = values.unsqueeze(-1) * matrix.index_select(-2, columns)
        size = pattern.shape[transposed]
        total = _C.zeros((info.batch_size, size, matrix.shape[-1]), dtype=matrix.dtype, device=matrix.device)
        return total.index_add(1, rows, terms), 0


class Sample(Function):
    @staticmethod
    def forward(left: Any, right: Any, pattern: Pattern) -> Any:
        pattern.check()
        rows, columns = pattern.coordinates
        a, b = array_of(left), array_of(right)
        if a.shape[1] == 1:
            return tensor_of(a[:, 0].take(rows) * b[:, 0].take(columns), left)
        out = np.empty(pattern.nnz, dtype=np.result_type(a, b))
        for at in range(0, pattern.nnz, BLOCK):
            part = slice(at, at + BLOCK)
            np.einsum("kj,kj->k", a.take(rows[part], axis=0), b.take(columns[part], axis=0), out=out[part])
        return tensor_of(out, left)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        left, right, ctx.pattern = inputs
        ctx.save_for_backward(left, right)
        ctx.save_for_forward(left, right)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        left, right = ctx.saved_tensors
        of_left = of_right = None
        if ctx.needs_input_grad[0]:
            of_left = multiply(ctx.pattern, grad, conjugated(right))
        if ctx.needs_input_grad[1]:
            of_right = multiply(ctx.pattern, grad, conjugated(left), True)
        return of_left, of_right, None

    @staticmethod
    def jvp(ctx: Any, left_t: Any, right_t: Any, _: Any) -> Any:
        left, right = ctx.saved_tensors
        parts = []
        if left_t is not None:
            parts.append(sample(ctx.pattern, left_t, right))
        if right_t is not None:
            parts.append(sample(ctx.pattern, left, right_t))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    @staticmethod
    def vmap(info: Any, in_dims: Any, left: Any, right: Any, pattern: Pattern) -> Any:
        left, right = (t if dim is None else t.movedim(dim, 0) for t, dim in zip((left, right), in_dims, strict=False))
        rows, columns = pattern.axes
        return (left.index_select(-2, rows) * right.index_select(-2, columns)).sum(-1), 0


class Restricted(Function):
    @staticmethod
    def forward(a: Any, b: Any, patterns: Any, transposed: Any) -> Any:
        first, second = (
            m.T if flag else m
            for m, flag in zip(
                (patterns[0].matrix(array_of(a)), patterns[1].matrix(array_of(b))), transposed, strict=True
            )
        )
        return tensor_of(elements_at(first @ second, patterns[2]), a)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        a, b, ctx.patterns, ctx.transposed = inputs
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b = ctx.saved_tensors
        (in_a, in_b, in_c), (turned_a, turned_b) = ctx.patterns, ctx.transposed
        of_a = of_b = None
        if ctx.needs_input_grad[0]:
            b = conjugated(b)
            if turned_a:  # op(B)* C^T
                of_a = restricted(b, grad, (in_b, in_c, in_a), (turned_b, True))
            else:  # C op(B)^H
                of_a = restricted(grad, b, (in_c, in_b, in_a), (False, not turned_b))
        if ctx.needs_input_grad[1]:
            a = conjugated(a)
            if turned_b:  # C^T op(A)*
                of_b = restricted(grad, a, (in_c, in_a, in_b), (True, turned_a))
            else:  # op(A)^H C
                of_b = restricted(a, grad, (in_a, in_c, in_b), (not turned_a, False))
        return of_a, of_b, None, None

    @staticmethod
    def jvp(ctx: Any, a_t: Any, b_t: Any, *_: Any) -> Any:
        a, b = ctx.saved_tensors
        parts = []
        if a_t is not None:
            parts.append(restricted(a_t, b, ctx.patterns, ctx.transposed))
        if b_t is not None:
            parts.append(restricted(a, b_t, ctx.patterns, ctx.transposed))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    @staticmethod
    def vmap(info: Any, in_dims: Any, a: Any, b: Any, patterns: Any, transposed: Any) -> Any:
        return over_samples(info, in_dims, lambda x, y: restricted(x, y, patterns, transposed), a, b), 0


def over_samples(info: Any, in_dims: Any, function: Any, *tensors: Any) -> Any:
    """Return the results of a function for each sample, one behind the other."""
    results = [
        function(*(t if d is None else t.select(d, i) for t, d in zip(tensors, in_dims, strict=False)))
        for i in range(info.batch_size)
    ]
    return _C.stack(results)


def elements_at(matrix: Any, pattern: Pattern) -> Any:
    """Return the elements of SciPy's matrix at the places of a pattern, zeros where it has none."""
    if pattern.nnz == 0 or matrix.nnz == 0:
        return np.zeros(pattern.nnz, dtype=matrix.dtype)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(matrix)
    matrix.sort_indices()
    rows, columns = pattern.coordinates
    return np.asarray(matrix[rows, columns]).ravel()
