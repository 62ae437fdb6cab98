"""Products, and ``numpy.linalg``."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import wengert
from wengert import _compositions

from ._convert import promoted, refuse, tensor, written


def dot(a: Any, b: Any, out: Any = None) -> Any:
    first, second = promoted((a, b))
    if not first.ndim or not second.ndim:
        return written(first * second, out)
    if first.ndim <= 2 and second.ndim <= 2:
        return written(first @ second, out)
    return written(_compositions.tensordot(first, second, (-1, -1 if second.ndim == 1 else -2)), out)


def vdot(a: Any, b: Any, /) -> Any:
    first, second = promoted((a, b))
    return wengert.vdot(first.reshape(-1), second.reshape(-1))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    return written(wengert.outer(*(value.reshape(-1) for value in promoted((a, b)))), out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    first, second = promoted((a, b))
    return _compositions.tensordot(first, second, axes)


def einsum(*operands: Any, out: Any = None, **options: Any) -> Any:
    options.pop("optimize", None)
    refuse("numpy.einsum", **options)
    equation, tensors = (operands[0], operands[1:]) if isinstance(operands[0], str) else _equation_of(operands)
    return written(wengert.einsum(equation, promoted(tensors)), out)


def _equation_of(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return the equation that lists of axes mean: ``einsum(a, [0, 1], b, [1], [0])`` is "ab,b->a"."""

    def letters(axes: Any) -> str:
        return "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in axes)

    inputs, result = (operands[:-1], operands[-1:]) if len(operands) % 2 else (operands, ())
    equation = ",".join(letters(axes) for axes in inputs[1::2])
    return equation + "".join(f"->{letters(axes)}" for axes in result), list(inputs[::2])


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = promoted((tensor(a).movedim(axisa, -1), tensor(b).movedim(axisb, -1)))
    return wengert.linalg.cross(first, second).movedim(-1, axisc)


# --- numpy.linalg
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    refuse("numpy.linalg.svd", hermitian=hermitian or None)
    if not compute_uv:
        return wengert.linalg.svdvals(tensor(a))
    return wengert.linalg.svd(tensor(a), full_matrices)


def qr(a: Any, mode: str = "reduced") -> Any:
    result = wengert.linalg.qr(tensor(a), mode)
    return result.R if mode == "r" else result


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    return wengert.linalg.pinv(tensor(a), rtol=rcond if rtol is None else rtol, hermitian=hermitian)


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    matrix, right = promoted((a, b))
    vector = right.ndim == 1
    right = right.unsqueeze(-1) if vector else right
    rows, columns = matrix.shape[-2:]
    values = wengert.linalg.svdvals(matrix)
    eps = wengert.finfo(matrix.dtype).eps
    smallest = (max(rows, columns) if rcond is None else rcond / eps) * eps
    rank = int((values > smallest * values[:1]).sum())
    solution = wengert.linalg.lstsq(matrix, right, smallest, driver="gelsd").solution
    residuals = matrix.new_empty(0)
    if rank == columns < rows:
        residuals = (matrix @ solution - right).abs().square().sum(0)
    return (solution.squeeze(-1) if vector else solution), residuals, rank, values


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    first, second = promoted((a, b))
    return wengert.linalg.tensorsolve(first, second, None if axes is None else tuple(axes))


def _matrices(name: str) -> Callable[..., Any]:
    """Return a function of one stack of matrices; these are called alike."""
    return lambda a: getattr(wengert.linalg, name)(tensor(a))


TABLE: dict[str, Callable[..., Any]] = {f.__name__: f for f in (dot, vdot, outer, tensordot, einsum, cross)}
TABLE |= {
    "inner": lambda a, b, /: wengert.inner(*promoted((a, b))),
    "kron": lambda a, b: wengert.kron(*promoted((a, b))),
}
TABLE |= {f"linalg.{f.__name__}": f for f in (svd, qr, pinv, lstsq, outer, tensordot)}
TABLE |= {f"linalg.{n}": _matrices(n) for n in ("inv", "det", "slogdet", "eig", "eigvals", "svdvals")}
TABLE |= {
    "linalg.solve": lambda a, b: wengert.linalg.solve(*promoted((a, b))),
    "linalg.cholesky": lambda a, /, *, upper=False: wengert.linalg.cholesky(tensor(a), upper=upper),
    "linalg.eigh": lambda a, UPLO="L": wengert.linalg.eigh(tensor(a), UPLO),  # noqa: N803  # NumPy's name
    "linalg.eigvalsh": lambda a, UPLO="L": wengert.linalg.eigvalsh(tensor(a), UPLO),  # noqa: N803
    "linalg.matrix_power": lambda a, n: wengert.linalg.matrix_power(tensor(a), n),
    "linalg.norm": lambda x, ord=None, axis=None, keepdims=False: wengert.linalg.norm(tensor(x), ord, axis, keepdims),
    "linalg.vector_norm": lambda x, /, *, axis=None, keepdims=False, ord=2: wengert.linalg.vector_norm(
        tensor(x), ord, axis, keepdims
    ),
    "linalg.matrix_norm": lambda x, /, *, keepdims=False, ord="fro": wengert.linalg.matrix_norm(
        tensor(x), ord, [-2, -1], keepdims
    ),
    "linalg.multi_dot": lambda arrays, *, out=None: written(wengert.linalg.multi_dot(promoted(arrays)), out),
    "linalg.cross": lambda x1, x2, /, *, axis=-1: cross(x1, x2, axis=axis),
    "linalg.cond": lambda x, p=None: wengert.linalg.cond(tensor(x), p),
    "linalg.diagonal": lambda x, /, *, offset=0: wengert.linalg.diagonal(tensor(x), offset=offset),
    "linalg.matrix_rank": lambda A, tol=None, hermitian=False, *, rtol=None: wengert.linalg.matrix_rank(  # noqa: N803
        tensor(A).detach(), atol=tol, rtol=rtol, hermitian=hermitian
    ),
    "linalg.matrix_transpose": lambda x, /: tensor(x).mT,
    "linalg.tensorinv": lambda a, ind=2: wengert.linalg.tensorinv(tensor(a), ind),
    "linalg.tensorsolve": tensorsolve,
    "linalg.trace": lambda x, /, *, offset=0, dtype=None: wengert.sum(
        wengert.linalg.diagonal(tensor(x), offset=offset), -1, dtype=dtype
    ),
    "linalg.vecdot": lambda x1, x2, /, *, axis=-1: (wengert.conj(tensor(x1)) * tensor(x2)).sum(axis),
    "linalg.matmul": lambda x1, x2, /: wengert.matmul(*promoted((x1, x2))),
}
