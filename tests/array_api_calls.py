"""One call or several of each function of the array API standard, as code that any of its namespaces runs.

A call gets the namespace and arrays of one type: `x` and `y` of shape (2, 3), `row` (3,), `square` (3, 3), `one`
without axes, `mask` of truths and `places` of integers.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np

import wengert

Call = Callable[[Any, Any], Any]

# The standard's types that the package has.
DTYPES = tuple(
    name for name in dir(strict) if isinstance(getattr(strict, name), strict._dtypes.DType) and hasattr(wengert, name)
)
KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")


def arrays(xp: Any, dtype: str) -> Any:
    """Return the arguments of calls, in a type."""
    kind = getattr(xp, dtype)

    def array(values: Any) -> Any:
        values = np.asarray(values)
        if dtype.startswith("complex"):
            values = values + 0.5j * values[::-1] if values.ndim else values + 0.5j
        if dtype.startswith("u"):
            values = np.abs(values)
        return xp.asarray(values.astype(dtype)) if dtype != "bool" else xp.asarray(values % 2 > 0.6)

    assert kind is not None
    return types.SimpleNamespace(
        x=array([[0.6, -2.0, 1.6], [3.0, 2.4, -1.0]]),
        y=array([[2.0, 3.0, 2.0], [1.0, 4.0, 3.0]]),
        row=array([1.0, 5.0, 2.0]),
        square=array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]]),
        one=array(2.0),
        mask=xp.asarray(np.array([[True, False, True], [False, False, True]])),
        places=xp.asarray(np.array([2, 0, -1])),
        dtype=kind,
    )


def elementwise() -> dict[str, int]:
    """Return the elementwise functions of the standard with the numbers of their arguments."""
    found = {}
    for name in strict.__all__:
        function = getattr(strict, name)
        if getattr(function, "__module__", "").endswith("_elementwise_functions") and name != "clip":
            found[name] = len(inspect.signature(function).parameters)
    return found


CALLS: dict[str, list[Call]] = {
    # creation
    "arange": [
        lambda xp, a: xp.arange(5), lambda xp, a: xp.arange(5, 1, -2), lambda xp, a: xp.arange(1, 5, dtype=a.dtype),
        lambda xp, a: xp.arange(5, 1), lambda xp, a: xp.arange(0.0, 1.0, 0.25),
    ],
    "asarray": [
        lambda xp, a: xp.asarray(a.x), lambda xp, a: xp.asarray([1, 2]), lambda xp, a: xp.asarray(2.5),
        lambda xp, a: xp.asarray([[1, 0], [0, 1]], dtype=a.dtype), lambda xp, a: xp.asarray(a.x, copy=True),
        lambda xp, a: xp.asarray(True), lambda xp, a: xp.asarray(1j), lambda xp, a: xp.asarray([0.5, 1]),
    ],
    "empty": [lambda xp, a: xp.empty((2, 0), dtype=a.dtype), lambda xp, a: xp.empty(0)],
    "empty_like": [lambda xp, a: xp.empty_like(a.x[:0, :])],
    "eye": [lambda xp, a: xp.eye(3, 4, k=1, dtype=a.dtype), lambda xp, a: xp.eye(2), lambda xp, a: xp.eye(3, 2, k=-7)],
    "from_dlpack": [lambda xp, a: xp.from_dlpack(a.x)],
    "full": [
        lambda xp, a: xp.full((2,), 1, dtype=a.dtype), lambda xp, a: xp.full(3, 2.5), lambda xp, a: xp.full((), True),
        lambda xp, a: xp.full((2,), 3), lambda xp, a: xp.full((2,), 3j),
    ],
    "full_like": [lambda xp, a: xp.full_like(a.x, 1), lambda xp, a: xp.full_like(a.x, 1, dtype=xp.int64)],
    "linspace": [
        lambda xp, a: xp.linspace(0, 1, 5), lambda xp, a: xp.linspace(0.0, 3.0, 4, dtype=a.dtype),
        lambda xp, a: xp.linspace(1, 2, 4, endpoint=False), lambda xp, a: xp.linspace(1, 2j, 3),
    ],
    "meshgrid": [
        lambda xp, a: xp.meshgrid(a.row, a.row), lambda xp, a: xp.meshgrid(a.row, a.row, indexing="ij"),
        lambda xp, a: xp.meshgrid(),
    ],
    "ones": [lambda xp, a: xp.ones((2, 3), dtype=a.dtype), lambda xp, a: xp.ones(2)],
    "ones_like": [lambda xp, a: xp.ones_like(a.x), lambda xp, a: xp.ones_like(a.x, dtype=xp.int8)],
    "tril": [lambda xp, a: xp.tril(a.x), lambda xp, a: xp.tril(a.square, k=-1)],
    "triu": [lambda xp, a: xp.triu(a.x), lambda xp, a: xp.triu(a.square, k=1)],
    "zeros": [lambda xp, a: xp.zeros((2, 3), dtype=a.dtype), lambda xp, a: xp.zeros(())],
    "zeros_like": [lambda xp, a: xp.zeros_like(a.x)],
    # types
    "astype": [
        lambda xp, a: xp.astype(a.y, xp.float64), lambda xp, a: xp.astype(a.y, a.dtype),
        lambda xp, a: xp.astype(a.y, xp.int64), lambda xp, a: xp.astype(a.y, xp.bool, copy=False),
    ],
    "can_cast": [
        lambda xp, a: [xp.can_cast(a.dtype, getattr(xp, to)) for to in DTYPES],
        lambda xp, a: xp.can_cast(a.x, xp.float64),
    ],
    "finfo": [
        lambda xp, a: [getattr(xp.finfo(a.dtype), n) for n in ("bits", "eps", "max", "min", "smallest_normal")],
        lambda xp, a: str(xp.finfo(a.x).dtype).rpartition(".")[2],
    ],
    "iinfo": [
        lambda xp, a: [getattr(xp.iinfo(a.dtype), n) for n in ("bits", "max", "min")],
        lambda xp, a: str(xp.iinfo(a.x).dtype).rpartition(".")[2],
    ],
    "isdtype": [
        lambda xp, a: [xp.isdtype(a.dtype, kind) for kind in KINDS],
        lambda xp, a: [xp.isdtype(a.dtype, getattr(xp, other)) for other in DTYPES],
        lambda xp, a: xp.isdtype(a.dtype, ("bool", xp.int8)),
    ],
    "result_type": [
        lambda xp, a: xp.result_type(a.x, a.one), lambda xp, a: xp.result_type(a.one, a.dtype),
        lambda xp, a: xp.result_type(a.x, True), lambda xp, a: xp.result_type(a.x, 1),
        lambda xp, a: xp.result_type(1.0, a.x), lambda xp, a: xp.result_type(a.x, 1j),
        *(lambda xp, a, other=other: xp.result_type(a.dtype, getattr(xp, other)) for other in DTYPES),
    ],
    # elementwise, besides what `elementwise` lists
    "clip": [
        lambda xp, a: xp.clip(a.x, 1, 2), lambda xp, a: xp.clip(a.x, max=a.row), lambda xp, a: xp.clip(a.x),
        lambda xp, a: xp.clip(a.x, min=a.one),
    ],
    # indexing
    "take": [lambda xp, a: xp.take(a.x, a.places, axis=1), lambda xp, a: xp.take(a.row, a.places)],
    "take_along_axis": [lambda xp, a: xp.take_along_axis(a.square, a.places[None, :], axis=0)],
    # manipulation
    "broadcast_arrays": [lambda xp, a: xp.broadcast_arrays(a.x, a.row, a.one)],
    "broadcast_shapes": [lambda xp, a: xp.broadcast_shapes((2, 1), (3,), ())],
    "broadcast_to": [lambda xp, a: xp.broadcast_to(a.row, (2, 3))],
    "concat": [
        lambda xp, a: xp.concat([a.x, a.y]), lambda xp, a: xp.concat((a.x, a.row), axis=None),
        lambda xp, a: xp.concat([a.x, a.y], axis=-1),
    ],
    "expand_dims": [lambda xp, a: xp.expand_dims(a.x, 1), lambda xp, a: xp.expand_dims(a.x, axis=-1)],
    "flip": [
        lambda xp, a: xp.flip(a.x), lambda xp, a: xp.flip(a.x, axis=1), lambda xp, a: xp.flip(a.x, axis=(0, -1)),
    ],
    "moveaxis": [
        lambda xp, a: xp.moveaxis(a.x[None, ...], 0, -1), lambda xp, a: xp.moveaxis(a.x[None, ...], (0, 1), (2, 0)),
    ],
    "permute_dims": [lambda xp, a: xp.permute_dims(a.x[None, ...], (2, 0, 1))],
    "repeat": [
        lambda xp, a: xp.repeat(a.x, 2), lambda xp, a: xp.repeat(a.x, 2, axis=1),
        lambda xp, a: xp.repeat(a.x, xp.asarray([2, 0, 1]), axis=1),
    ],
    "reshape": [
        lambda xp, a: xp.reshape(a.x, (3, -1)), lambda xp, a: xp.reshape(a.x, (6,), copy=True),
        lambda xp, a: xp.reshape(a.x, (6,), copy=False),
    ],
    "roll": [
        lambda xp, a: xp.roll(a.x, 1), lambda xp, a: xp.roll(a.x, (1, -2), axis=(0, 1)),
        lambda xp, a: xp.roll(a.x, 1, axis=-1), lambda xp, a: xp.roll(a.x, 1, axis=(0, 1)),
    ],
    "squeeze": [
        lambda xp, a: xp.squeeze(a.x[None, ...], 0), lambda xp, a: xp.squeeze(a.x[None, :, None, :], axis=(0, 2)),
    ],
    "stack": [lambda xp, a: xp.stack([a.x, a.y]), lambda xp, a: xp.stack((a.x, a.y), axis=-1)],
    "tile": [lambda xp, a: xp.tile(a.x, (2,)), lambda xp, a: xp.tile(a.row, (2, 1, 2))],
    "unstack": [lambda xp, a: xp.unstack(a.x), lambda xp, a: xp.unstack(a.x, axis=-1)],
    # products
    "matmul": [lambda xp, a: xp.matmul(a.x, a.square), lambda xp, a: xp.matmul(a.row, a.row)],
    "matrix_transpose": [lambda xp, a: xp.matrix_transpose(a.x)],
    "tensordot": [
        lambda xp, a: xp.tensordot(a.x, a.square, axes=1), lambda xp, a: xp.tensordot(a.x, a.y),
        lambda xp, a: xp.tensordot(a.x, a.y, axes=((0,), (0,))), lambda xp, a: xp.tensordot(a.row, a.row, axes=0),
    ],
    "vecdot": [lambda xp, a: xp.vecdot(a.x, a.y), lambda xp, a: xp.vecdot(a.x, a.y, axis=0)],
    # searching, sorting, sets
    "argmax": [
        lambda xp, a: xp.argmax(a.x), lambda xp, a: xp.argmax(a.x, axis=1, keepdims=True),
        lambda xp, a: xp.argmax(a.x, keepdims=True),
    ],
    "argmin": [lambda xp, a: xp.argmin(a.x), lambda xp, a: xp.argmin(a.x, axis=0)],
    "nonzero": [lambda xp, a: xp.nonzero(a.square)],
    "count_nonzero": [
        lambda xp, a: xp.count_nonzero(a.square), lambda xp, a: xp.count_nonzero(a.square, axis=(0,), keepdims=True),
        lambda xp, a: xp.count_nonzero(a.square, axis=()),
    ],
    "searchsorted": [
        lambda xp, a: xp.searchsorted(xp.sort(a.row), a.x), lambda xp, a: xp.searchsorted(xp.sort(a.row), 2),
        lambda xp, a: xp.searchsorted(xp.sort(a.row), a.row, side="right"),
        lambda xp, a: xp.searchsorted(a.row, a.row, sorter=xp.argsort(a.row)),
    ],
    "where": [
        lambda xp, a: xp.where(a.mask, a.x, a.y), lambda xp, a: xp.where(a.mask, a.x, a.one),
        lambda xp, a: xp.where(a.mask, 1, a.x), lambda xp, a: xp.where(a.mask, a.x, 0),
    ],
    "isin": [lambda xp, a: xp.isin(a.x, a.y)],
    "argsort": [
        lambda xp, a: xp.argsort(a.x), lambda xp, a: xp.argsort(a.x, axis=0, descending=True),
        lambda xp, a: xp.argsort(a.row, stable=False),
    ],
    "sort": [lambda xp, a: xp.sort(a.x), lambda xp, a: xp.sort(a.x, axis=0, descending=True)],
    "unique_all": [lambda xp, a: xp.unique_all(a.square)],
    "unique_counts": [lambda xp, a: xp.unique_counts(a.square)],
    "unique_inverse": [lambda xp, a: xp.unique_inverse(a.square)],
    "unique_values": [lambda xp, a: xp.unique_values(a.square)],
    # statistics
    **{
        name: [
            lambda xp, a, name=name: getattr(xp, name)(a.x),
            lambda xp, a, name=name: getattr(xp, name)(a.x, axis=1),
            lambda xp, a, name=name: getattr(xp, name)(a.x, axis=(0, -1), keepdims=True),
            lambda xp, a, name=name: getattr(xp, name)(a.x, axis=()),
            lambda xp, a, name=name: getattr(xp, name)(a.one),
        ]
        for name in ("all", "any", "max", "min", "mean", "sum", "prod", "std", "var")
    },
    "diff": [
        lambda xp, a: xp.diff(a.y), lambda xp, a: xp.diff(a.y, axis=0),
        lambda xp, a: xp.diff(a.y, n=2, prepend=a.x, append=a.y),
    ],
}  # fmt: skip

CALLS["sum"].append(lambda xp, a: xp.sum(a.x, dtype=a.dtype, axis=0))
CALLS["prod"].append(lambda xp, a: xp.prod(a.x, dtype=a.dtype))
for _name in ("std", "var"):
    CALLS[_name].append(lambda xp, a, name=_name: getattr(xp, name)(a.x, correction=0.5, axis=-1))
for _name in ("cumulative_sum", "cumulative_prod"):
    CALLS[_name] = [
        lambda xp, a, name=_name: getattr(xp, name)(a.row),
        lambda xp, a, name=_name: getattr(xp, name)(a.x, axis=1, dtype=a.dtype),
        lambda xp, a, name=_name: getattr(xp, name)(a.x, axis=-2, include_initial=True),
        lambda xp, a, name=_name: getattr(xp, name)(a.row[:0], include_initial=True),
    ]

LINALG: dict[str, list[Call]] = {
    "cholesky": [
        lambda xp, a: xp.linalg.cholesky(_hermitian(xp, a)),
        lambda xp, a: xp.linalg.cholesky(_hermitian(xp, a), upper=True),
    ],
    "cross": [
        lambda xp, a: xp.linalg.cross(a.x, a.y),
        lambda xp, a: xp.linalg.cross(xp.matrix_transpose(a.x), xp.matrix_transpose(a.y), axis=0),
    ],
    "det": [lambda xp, a: xp.linalg.det(a.square)],
    "diagonal": [lambda xp, a: xp.linalg.diagonal(a.x), lambda xp, a: xp.linalg.diagonal(a.x, offset=-1)],
    "eig": [lambda xp, a: _rebuilt(xp, *xp.linalg.eig(a.square), "eig")],
    "eigh": [
        lambda xp, a: _rebuilt(xp, *xp.linalg.eigh(_hermitian(xp, a)), "eigh"),
        lambda xp, a: xp.linalg.eigh(_hermitian(xp, a)).eigenvalues,
    ],
    "eigvals": [lambda xp, a: xp.sort(xp.real(xp.linalg.eigvals(a.square)))],
    "eigvalsh": [lambda xp, a: xp.linalg.eigvalsh(_hermitian(xp, a))],
    "inv": [lambda xp, a: xp.linalg.inv(a.square)],
    "matmul": CALLS["matmul"],
    "matrix_norm": [
        lambda xp, a: xp.linalg.matrix_norm(a.x), lambda xp, a: xp.linalg.matrix_norm(a.x, ord=1, keepdims=True),
        lambda xp, a: xp.linalg.matrix_norm(a.x, ord="nuc"), lambda xp, a: xp.linalg.matrix_norm(a.x, ord=-2),
    ],
    "matrix_power": [
        lambda xp, a: xp.linalg.matrix_power(a.square, 3), lambda xp, a: xp.linalg.matrix_power(a.square, -2),
        lambda xp, a: xp.linalg.matrix_power(a.square, 0),
    ],
    "matrix_rank": [lambda xp, a: xp.linalg.matrix_rank(a.x), lambda xp, a: xp.linalg.matrix_rank(a.x, rtol=0.9)],
    "matrix_transpose": CALLS["matrix_transpose"],
    "outer": [lambda xp, a: xp.linalg.outer(a.row, a.row[:2])],
    "pinv": [lambda xp, a: xp.linalg.pinv(a.x), lambda xp, a: xp.linalg.pinv(a.x, rtol=0.9)],
    "qr": [
        lambda xp, a: xp.matmul(*xp.linalg.qr(a.x)),
        lambda xp, a: xp.abs(xp.linalg.qr(xp.matrix_transpose(a.x), mode="complete").R),
    ],
    "slogdet": [lambda xp, a: xp.linalg.slogdet(a.square)],
    "solve": [
        lambda xp, a: xp.linalg.solve(a.square, a.row),
        lambda xp, a: xp.linalg.solve(xp.stack([a.square, a.square]), a.square),
        lambda xp, a: xp.linalg.solve(xp.stack([a.square] * 3), a.row),
    ],
    "svd": [
        lambda xp, a: xp.linalg.svd(a.x).S, lambda xp, a: xp.abs(xp.linalg.svd(a.x, full_matrices=False).Vh),
        lambda xp, a: xp.linalg.svd(a.x).Vh.shape,
    ],
    "svdvals": [lambda xp, a: xp.linalg.svdvals(a.x)],
    "tensordot": CALLS["tensordot"],
    "trace": [
        lambda xp, a: xp.linalg.trace(a.square), lambda xp, a: xp.linalg.trace(a.square, offset=1, dtype=a.dtype),
    ],
    "vecdot": CALLS["vecdot"],
    "vector_norm": [
        lambda xp, a: xp.linalg.vector_norm(a.x),
        lambda xp, a: xp.linalg.vector_norm(a.x, axis=(0, 1), keepdims=True, ord=3),
        lambda xp, a: xp.linalg.vector_norm(a.x, axis=-1, ord=0),
        lambda xp, a: xp.linalg.vector_norm(a.x, axis=(), ord=float("inf")),
    ],
}  # fmt: skip

FFT: dict[str, list[Call]] = {
    **{
        name: [
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x),
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x, n=4, axis=0, norm="ortho"),
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x, n=2, norm="forward"),
        ]
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        name: [
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x),
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x, s=(4, 2), axes=(1, 0), norm="ortho"),
        ]
        for name in ("fftn", "ifftn", "rfftn", "irfftn")
    },
    **{
        name: [
            lambda xp, a, name=name: getattr(xp.fft, name)(5),
            lambda xp, a, name=name: getattr(xp.fft, name)(4, d=0.5, dtype=a.dtype),
        ]
        for name in ("fftfreq", "rfftfreq")
    },
    **{
        name: [
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x),
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x, axes=1),
            lambda xp, a, name=name: getattr(xp.fft, name)(a.x, axes=(0,)),
        ]
        for name in ("fftshift", "ifftshift")
    },
}


def _hermitian(xp: Any, a: Any) -> Any:
    return xp.matmul(a.square, xp.conj(xp.matrix_transpose(a.square)) if "complex" in str(a.dtype) else a.square.mT)


def _rebuilt(xp: Any, values: Any, vectors: Any, kind: str) -> Any:
    """Return the matrix of its eigenvalues and vectors, which are not unique themselves."""
    if kind == "eigh":
        return xp.matmul(vectors * xp.astype(values, vectors.dtype), xp.conj(xp.matrix_transpose(vectors)))
    return xp.real(xp.matmul(vectors * values, xp.linalg.inv(vectors)))
