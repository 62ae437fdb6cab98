"""Linear systems with a sparse matrix.

A `System` solves A x = b and A^T x = b with numbers: by SuperLU's factors or by iterations, with a preconditioner on
request. `Solve` makes a differentiable function of it:

    x = A^-1 b         of b:  A^-H g         of the values of A:  -(A^-H g) x^H at the places of A

The derivative is a solution with the transposed matrix and a sampled product, so the factors of the forward pass serve
backward, forward mode and every higher order; nothing is factorized twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import _C
from wengert.autograd._custom_function.function import Function

from ._bilinear import multiply, over_samples, sample
from ._numbers import Array, array_of, as_operand, conjugated, require_same_dtype, tensor_of
from ._pattern import Pattern
from ._products import require_matrix
from ._tensor import is_sparse, pattern_of, values_of

ITERATIONS = ("cg", "gmres", "bicgstab")
METHODS = ("lu", *ITERATIONS)


class System:
    """The matrix with certain values, and how to solve with it."""

    def __init__(self, pattern: Pattern, method: str, options: dict[str, Any]) -> None:
        self.pattern, self.method, self.options = pattern, method, options

    def at(self, values: Any) -> Callable[[Array, bool], Array]:
        """Return a function that solves with these values: ``solve(b, transposed)``."""
        matrix = self.pattern.matrix(array_of(values))
        if matrix.dtype.kind not in "fc":
            raise RuntimeError(
                f"[sparse.solve] expected a matrix of floating point or complex dtype, got {values.dtype}"
            )
        return self._factorized(matrix) if self.method == "lu" else self._iterated(matrix)

    def _factorized(self, matrix: Any) -> Callable[[Array, bool], Array]:
        from scipy.sparse.linalg import splu

        if not np.all(np.isfinite(matrix.data)):
            raise RuntimeError("[sparse.solve] the matrix has elements that are infinite or NaN")
        try:
            # The rows of A are the columns of its transpose, which SuperLU takes as they are.
            factors = splu(matrix.T, **self.options)
        except RuntimeError as error:
            if "singular" not in str(error):
                raise
            raise _C._LinAlgError("sparse.solve: The solver failed because the input matrix is singular.") from error
        return lambda b, transposed: factors.solve(b, "N" if transposed else "T")

    def _iterated(self, matrix: Any) -> Callable[[Array, bool], Array]:
        from scipy.sparse import linalg

        run, options = getattr(linalg, self.method), dict(self.options)
        preconditioners = _preconditioners(options.pop("preconditioner", None), matrix)

        def solve(b: Array, transposed: bool) -> Array:
            operator = matrix.T if transposed else matrix
            columns = b.reshape(len(b), -1)
            out = np.empty(columns.shape, dtype=np.result_type(matrix.dtype, b.dtype))
            for i in range(columns.shape[1]):
                out[:, i], info = run(operator, columns[:, i], M=preconditioners(transposed), **options)
                if info != 0:
                    error = np.linalg.norm(operator @ out[:, i] - columns[:, i])
                    raise RuntimeError(
                        f"[sparse.solve] {self.method} did not converge: the residual is {error:.3g} beside a "
                        f"right-hand side of {np.linalg.norm(columns[:, i]):.3g}; give a preconditioner, a larger "
                        "maxiter or rtol, or use method='lu'"
                    )
            return out.reshape(b.shape)

        return solve


def _preconditioners(given: Any, matrix: Any) -> Callable[[bool], Any]:
    """Return what makes the preconditioner of the matrix, or of its transpose."""
    from scipy.sparse.linalg import LinearOperator, aslinearoperator, spilu

    if given is None:
        return lambda transposed: None
    if given == "jacobi" if isinstance(given, str) else False:
        diagonal = matrix.diagonal()
        inverse = np.divide(1, diagonal, out=np.ones_like(diagonal), where=diagonal != 0)
        scaling = LinearOperator(matrix.shape, matvec=lambda b: inverse * b.reshape(-1), dtype=matrix.dtype)
        return lambda transposed: scaling
    if given == "ilu" if isinstance(given, str) else False:
        factors = spilu(matrix.tocsc())
        both = [
            LinearOperator(matrix.shape, matvec=functools.partial(factors.solve, trans=t), dtype=matrix.dtype)
            for t in ("N", "T")
        ]
        return lambda transposed: both[transposed]
    if isinstance(given, str):
        raise ValueError(
            f"[sparse.solve] preconditioner must be 'jacobi', 'ilu', a matrix or an operator, got {given!r}"
        )
    if is_sparse(given):
        given = pattern_of(given).matrix(array_of(values_of(given.detach())))
    elif isinstance(given, _C.Tensor):
        given = array_of(given)
    linear = aslinearoperator(given)
    return lambda transposed: linear.T if transposed else linear


class Solve(Function):
    @staticmethod
    def forward(values: Any, b: Any, system: System, solver: Any, transposed: bool) -> Any:
        return tensor_of(solver(array_of(b), transposed), b)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        values, _, ctx.system, ctx.solver, ctx.transposed = inputs
        ctx.save_for_backward(values, output)
        ctx.save_for_forward(values, output)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        values, x = ctx.saved_tensors
        # A^-H g = conj(A^-T conj(g)): the factors are those of A, not of its conjugate.
        of_b = conjugated(Solve.apply(values, conjugated(grad), ctx.system, ctx.solver, not ctx.transposed))
        of_values = None
        if ctx.needs_input_grad[0]:
            left, right = of_b, conjugated(x)
            of_values = -sample(ctx.system.pattern, *((right, left) if ctx.transposed else (left, right)))
        return of_values, of_b, None, None, None

    @staticmethod
    def jvp(ctx: Any, values_t: Any, b_t: Any, *_: Any) -> Any:
        values, x = ctx.saved_tensors
        right = b_t
        if values_t is not None:
            moved = multiply(ctx.system.pattern, values_t, x, ctx.transposed)
            right = -moved if b_t is None else b_t - moved
        return Solve.apply(values, right, ctx.system, ctx.solver, ctx.transposed)

    @staticmethod
    def vmap(info: Any, in_dims: Any, values: Any, b: Any, system: System, solver: Any, transposed: bool) -> Any:
        if in_dims[0] is None:
            b = b.movedim(in_dims[1], -1)
            x = Solve.apply(values, b.reshape(b.shape[0], -1), system, solver, transposed)
            return x.reshape(b.shape), b.dim() - 1

        def one(v: Any, right: Any) -> Any:
            return Solve.apply(v, right, system, system.at(v), transposed)

        return over_samples(info, in_dims, one, values, b), 0


class Factorization:
    """A sparse matrix with its factors; what `splu` returns.

    Attributes
    ----------
    shape : tuple of int
        [n, n]
    """

    def __init__(self, matrix: Any, system: System) -> None:
        self._values, self._system = values_of(matrix), system
        self._solver = None if _C._is_sample(self._values) else system.at(self._values)
        self.shape = tuple(matrix.shape)

    def solve(self, b: Any, *, transposed: bool = False) -> Any:
        """Return x with A x = b, or with the transposed matrix; differentiable in b and in the values of A.

        Parameters
        ----------
        b : Tensor
            Dense, [n] or [n, k].
        transposed : bool
            Whether to solve with the transpose of A.

        Returns
        -------
        Tensor
            In the shape of `b`.

        Examples
        --------
        >>> import wengert as wg
        >>> factors = wg.sparse.splu(wg.tensor([[2.0, 0.0], [1.0, 4.0]]).to_sparse_csr())
        >>> factors.solve(wg.tensor([2.0, 5.0]))
        tensor([1., 1.])
        >>> factors.solve(wg.tensor([3.0, 4.0]), transposed=True)
        tensor([1., 1.])
        """
        b = as_operand("sparse.solve", b)
        if is_sparse(b):
            raise RuntimeError("[sparse.solve] the right-hand side must be dense; use b.to_dense()")
        require_same_dtype("sparse.solve", self._values, b)
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise RuntimeError(
                f"[sparse.solve] a matrix of shape {self.shape} needs a right-hand side of shape ({self.shape[0]},) or "
                f"({self.shape[0]}, k), got {tuple(b.shape)}"
            )
        columns = b if b.ndim == 2 else b.unsqueeze(1)
        x = Solve.apply(self._values, columns, self._system, self._solver, transposed)
        return x if b.ndim == 2 else x.squeeze(1)


def splu(matrix: Any, *, permc_spec: str | None = None, **options: Any) -> Factorization:
    """Factorize a sparse matrix, to solve with it again and again.

    Parameters
    ----------
    matrix : Tensor
        Sparse, [n, n], of any layout; its values may require grad.
    permc_spec : {'COLAMD', 'MMD_AT_PLUS_A', 'MMD_ATA', 'NATURAL'}, optional
        How columns are ordered so that factors stay sparse; 'MMD_AT_PLUS_A' suits matrices with symmetric places.
    **options
        Others of ``scipy.sparse.linalg.splu``, such as ``diag_pivot_thresh`` and ``options``.

    Returns
    -------
    Factorization
        Its method ``solve`` is differentiable with respect to the right-hand side and to the values of the matrix.

    Raises
    ------
    LinAlgError
        If the matrix is singular.

    Examples
    --------
    >>> import wengert as wg
    >>> v = wg.tensor([2.0, 4.0], requires_grad=True)
    >>> A = wg.sparse_coo_tensor([[0, 1], [0, 1]], v, (2, 2))
    >>> factors = wg.sparse.splu(A)
    >>> sum(factors.solve(b).sum() for b in wg.eye(2)).backward()
    >>> v.grad
    tensor([-0.2500, -0.0625])
    """
    if permc_spec is not None:
        options["permc_spec"] = permc_spec
    return Factorization(matrix, System(_square(matrix), "lu", options))


def _square(matrix: Any) -> Pattern:
    if not is_sparse(matrix):
        raise RuntimeError("[sparse.solve] expected a sparse matrix; use wengert.linalg.solve for a dense one")
    require_matrix("sparse.solve", matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise RuntimeError(f"[sparse.solve] the matrix must be square, but has shape {tuple(matrix.shape)}")
    return pattern_of(matrix)


def solve(matrix: Any, b: Any, method: str = "lu", **options: Any) -> Any:
    """Return x with A x = b for a sparse matrix A.

    Parameters
    ----------
    matrix : Tensor
        Sparse, [n, n], of any layout.
    b : Tensor
        Dense, [n] or [n, k], of the same dtype.
    method : {'lu', 'cg', 'gmres', 'bicgstab'}
        SuperLU's factorization, or iterations; 'cg' takes a matrix that is Hermitian and positive definite.
    **options
        Of 'lu' those of `splu`. Of iterations ``preconditioner`` ('jacobi', 'ilu', or a matrix or
        ``scipy.sparse.linalg.LinearOperator`` near the inverse of A), ``rtol``, ``atol``, ``maxiter``, and
        ``restart`` of 'gmres'; as in ``scipy.sparse.linalg``.

    Returns
    -------
    Tensor
        In the shape of `b`. Differentiable in both modes and to any order with respect to `b` and the values of A;
        derivatives use the factors, or the preconditioner, of the forward pass.

    Raises
    ------
    LinAlgError
        If the matrix is singular.
    RuntimeError
        If iterations do not converge.

    References
    ----------
    Li, X. S.: An overview of SuperLU. ACM Transactions on Mathematical Software 31 (2005).
    Saad, Y.: Iterative methods for sparse linear systems. SIAM (2003).

    Examples
    --------
    >>> import wengert as wg
    >>> A = wg.tensor([[2.0, 0.0], [1.0, 4.0]]).to_sparse_csr().requires_grad_()
    >>> x = wg.sparse.solve(A, wg.tensor([2.0, 5.0]))
    >>> x
    tensor([1., 1.], grad_fn=<SqueezeBackward1>)
    >>> x.sum().backward()
    >>> A.grad.values()
    tensor([-0.3750, -0.2500, -0.2500])
    """
    if method == "lu":
        return splu(matrix, **options).solve(b)
    if method not in ITERATIONS:
        raise ValueError(f"[sparse.solve] method must be one of {METHODS}, but got {method!r}")
    return Factorization(matrix, System(_square(matrix), method, {"rtol": 1e-8, **options})).solve(b)


def spsolve(input: Any, other: Any, *, left: bool = True) -> Any:
    """Return the solution of a linear system with a sparse matrix, as `solve` does with its defaults.

    Parameters
    ----------
    input : Tensor
        Sparse, [n, n].
    other : Tensor
        Dense, [n] or [n, k]; [k, n] where `left` is False.
    left : bool
        Whether to solve ``input @ x = other`` or ``x @ input = other``.

    Returns
    -------
    Tensor
        In the shape of `other`.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.sparse.spsolve(wg.tensor([[2.0, 0.0], [1.0, 4.0]]).to_sparse_csr(), wg.tensor([2.0, 5.0]))
    tensor([1., 1.])
    """
    if left:
        return solve(input, other)
    rows = other if other.ndim == 1 else other.T
    x = splu(input).solve(rows, transposed=True)
    return x if other.ndim == 1 else x.T
