"""The tensor types of old programs: ``FloatTensor([1, 2])``, ``isinstance(x, LongTensor)``, ``x.type(DoubleTensor)``.

Tensors have one type; these classes stand for the tensors of one dtype. New programs write ``tensor(data, dtype=...)``,
``empty(sizes)`` and ``x.dtype``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import wengert
from wengert._C import Size, Tensor


class LegacyType(type):
    """The type of these classes; calling one makes a tensor, not an instance."""

    dtype: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype == cls.dtype

    def __call__(cls, *arguments: Any, device: Any = None) -> Any:
        return make(cls.dtype, arguments)


def make(dtype: Any, arguments: tuple[Any, ...]) -> Any:
    """Return a tensor of sizes (``2, 3`` or a Size; its elements are not set) or of data (a sequence or a tensor)."""
    if not arguments:
        return wengert.empty(0, dtype=dtype)
    if len(arguments) == 1 and isinstance(arguments[0], Size):
        return wengert.empty(arguments[0], dtype=dtype)
    if all(isinstance(argument, int) for argument in arguments):
        return wengert.empty(arguments, dtype=dtype)
    if len(arguments) > 1:
        raise TypeError(f"new() takes sizes or one argument of data, got {len(arguments)} arguments")
    data = arguments[0]
    if not isinstance(data, Tensor):
        return wengert.tensor(data, dtype=dtype)
    if data.dtype != dtype:
        raise TypeError(f"expected {dtype} (got {data.dtype}); use x.to(dtype)")
    return data.detach()


_DTYPES = {
    "BoolTensor": "bool", "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32",
    "LongTensor": "int64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "FloatTensor": "float32", "DoubleTensor": "float64",
}  # fmt: skip

if TYPE_CHECKING:  # type checkers do not see `__getattr__`: with it, no name would be unknown to them
    BFloat16Tensor = Tensor
    BoolTensor = Tensor
    ByteTensor = Tensor
    CharTensor = Tensor
    DoubleTensor = Tensor
    FloatTensor = Tensor
    HalfTensor = Tensor
    IntTensor = Tensor
    LongTensor = Tensor
    ShortTensor = Tensor
else:

    def __getattr__(name: str) -> Any:
        if name not in _DTYPES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        dtype = getattr(wengert, _DTYPES[name])
        doc = f"Stands for the tensors of dtype {_DTYPES[name]}; ``{name}(data)`` makes one."
        globals()[name] = LegacyType(name, (), {"__module__": "wengert", "__doc__": doc, "dtype": dtype})
        return globals()[name]
