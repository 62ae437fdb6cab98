"""What ranks do with the numbers of all: `ReduceOp`, and its arithmetic in the order of ranks.

`reduce_rows` takes one row from each rank and goes through them from rank 0 on, element by element:
((x0 + x1) + x2) + x3. The result depends on nothing else, neither on when messages arrive nor on how tensors are cut
into buckets and chunks, so it is the same on every rank and in every run, and the same as that of one process which
adds in this order. float16 and bfloat16 are added in float32 and rounded once.

MPI's own reductions (``deterministic=False``) may take any order; they serve the dtypes that MPI knows.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert._C import Tensor


class ReduceOp(enum.Enum):
    """How the tensors of all ranks become one.

    ``AVG`` is the sum divided by the number of ranks; ``BAND``, ``BOR``, ``BXOR`` are bitwise, of integers and bools.

    Examples
    --------
    >>> import wengert.distributed as dist
    >>> dist.ReduceOp.SUM
    <ReduceOp.SUM: 0>
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


_ARITHMETIC: dict[ReduceOp, Callable[..., Tensor]] = {
    ReduceOp.SUM: wg.add,
    ReduceOp.AVG: wg.add,
    ReduceOp.PRODUCT: wg.mul,
    ReduceOp.MIN: wg.minimum,
    ReduceOp.MAX: wg.maximum,
    ReduceOp.BAND: wg.bitwise_and,
    ReduceOp.BOR: wg.bitwise_or,
    ReduceOp.BXOR: wg.bitwise_xor,
}

_COMPUTED_IN = {wg.float16: wg.float32, wg.bfloat16: wg.float32}

_OF_MPI = {
    wg.float32: "FLOAT", wg.float64: "DOUBLE", wg.complex64: "C_FLOAT_COMPLEX", wg.complex128: "C_DOUBLE_COMPLEX",
    wg.int8: "INT8_T", wg.int16: "INT16_T", wg.int32: "INT32_T", wg.int64: "INT64_T", wg.uint8: "UINT8_T",
}  # fmt: skip
_OPERATIONS_OF_MPI = {
    ReduceOp.SUM: "SUM", ReduceOp.PRODUCT: "PROD", ReduceOp.MIN: "MIN", ReduceOp.MAX: "MAX",
    ReduceOp.BAND: "BAND", ReduceOp.BOR: "BOR", ReduceOp.BXOR: "BXOR",
}  # fmt: skip


def check_reducible(name: str, op: Any, dtype: Any) -> ReduceOp:
    """Return `op`, or say why tensors of `dtype` cannot be reduced by it."""
    if not isinstance(op, ReduceOp):
        raise TypeError(f"[{name}] op must be a ReduceOp, not {type(op).__name__}")
    fraction = dtype.is_floating_point or dtype.is_complex
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and fraction:
        raise RuntimeError(f"[{name}] Cannot use ReduceOp.{op.name} with non-integral dtype {dtype}")
    if op in (ReduceOp.MIN, ReduceOp.MAX) and dtype.is_complex:
        raise RuntimeError(f"[{name}] ReduceOp.{op.name} has no meaning for {dtype}: complex numbers have no order")
    if op is ReduceOp.AVG and not fraction:
        raise RuntimeError(f"[{name}] Cannot use ReduceOp.AVG with dtype {dtype}; use SUM, or a floating point dtype")
    return op


def reduce_rows(rows: Tensor, op: ReduceOp, out: Tensor) -> None:
    """Reduce [ranks,n] to [n], from the first row on."""
    function, ranks = _ARITHMETIC[op], rows.shape[0]
    dtype = _COMPUTED_IN.get(out.dtype)
    if dtype is None:
        out.copy_(rows[0])
        total = out
    else:
        total = rows[0].to(dtype)
    for row in rows[1:]:
        function(total, row if dtype is None else row.to(dtype), out=total)
    if op is ReduceOp.AVG:
        total.div_(ranks)
    if dtype is not None:
        out.copy_(total)


def of_mpi(mpi: Any, op: ReduceOp, dtype: Any) -> tuple[Any, Any] | None:
    """Return the operation and the datatype of MPI, or None if it lacks one."""
    name, kind = _OPERATIONS_OF_MPI.get(op), _OF_MPI.get(dtype)
    return (getattr(mpi, name), getattr(mpi, kind)) if name and kind else None
