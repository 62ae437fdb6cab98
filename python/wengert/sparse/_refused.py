"""What sparse tensors have not: memory whose elements lie at strides. The messages say what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

from ._rules import above


@above("numpy", "__array__", "__dlpack__")
def _numpy(input: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first, or wengert.sparse.to_scipy(x)."
    )


@above("tolist", "item", "__float__", "__int__", "__complex__", "__index__", "__bool__")
def _number(input: Any) -> Any:
    if input.numel() == 1:
        return input.to_dense().item()
    raise RuntimeError(f"a sparse tensor with {input.numel()} elements cannot be converted to Scalar; use x.to_dense()")


@above("stride", "strides", "storage_offset", "data_ptr", "untyped_storage", "storage", "is_set_to")
def _memory(input: Any, *args: Any) -> NoReturn:
    raise RuntimeError("a sparse tensor has no strides and no memory of its own; that of x.values() is its elements'")


@above("is_contiguous")
def _is_contiguous(input: Any, *args: Any, **kwargs: Any) -> bool:
    return False


@above("nbytes")
def nbytes(input: Any) -> int:
    """Bytes of indices and values."""
    return sum(int(array.nbytes) for array in input._pattern.arrays) + int(input._stored.nbytes)
