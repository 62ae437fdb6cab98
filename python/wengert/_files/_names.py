"""What a file may name, and what each name means here: tensors, parameters, dtypes, plain containers.

The names are those of PyTorch's files; `torch.load` knows them as well.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

import wengert as wg
from wengert._C import Size, Tensor
from wengert.nn._parameter import Parameter

from ._dtypes import NAMES, STORAGES, UNSUPPORTED
from ._unpickle import Constructor, checked_key, refuse, set_attributes

_LARGEST = (1 << 63) - 1


def _integers(values: Any, least: int = 0) -> tuple[int, ...]:
    if not isinstance(values, tuple) or not all(type(v) is int and least <= v <= _LARGEST for v in values):
        raise refuse(f"sizes, strides or offset of a tensor are {values!r}")
    return values


def _tensor(
    storage: Any,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool = False,
    hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    """Make a tensor on a storage, which is a tensor of one dimension here."""
    (offset,), size, stride = _integers((offset,)), _integers(tuple(size)), _integers(tuple(stride))
    if not isinstance(storage, Tensor) or storage.dim() != 1:
        raise refuse(f"a tensor lies on {type(storage).__name__}")
    if len(size) != len(stride) or len(size) > 64:
        raise refuse(f"a tensor has sizes {size} and strides {stride}")
    if 0 not in size:
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if last >= storage.numel():
            raise refuse(f"a tensor ends at element {last} of a storage of {storage.numel()}")
    elif offset > storage.numel():
        raise refuse(f"a tensor begins at element {offset} of a storage of {storage.numel()}")
    result = wg.empty(0, dtype=storage.dtype).set_(storage.as_strided(size, stride, offset))
    if isinstance(metadata, dict):
        result = result.conj() if metadata.get("conj") else result
        result = wg.neg(result) if metadata.get("neg") else result
    return result.requires_grad_() if requires_grad else result


def _tensor_of_bytes(
    storage: Any,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """Make a tensor on a storage of bytes."""
    whole = isinstance(storage, Tensor) and storage.dtype == wg.uint8 and storage.dim() == 1
    if not whole or dtype not in NAMES.values() or storage.numel() % dtype.itemsize:
        raise refuse(f"a tensor of dtype {dtype} lies on something else than its bytes")
    aligned = storage if storage.data_ptr() % dtype.itemsize == 0 else storage.clone()
    return _tensor(aligned.view(dtype), offset, size, stride, requires_grad, hooks, metadata)


def _parameter(data: Any, requires_grad: bool = True, hooks: Any = None, state: Any = None) -> Parameter:
    if not isinstance(data, Tensor):
        raise refuse(f"a parameter holds {type(data).__name__}")
    result: Parameter = Parameter(data, bool(requires_grad))
    if state:
        set_attributes(result, state)
    return result


def _with_attributes(function: Any, kind: Any, arguments: Any, state: Any) -> Any:
    """Make a tensor that has attributes."""
    if not isinstance(function, Constructor) or function.function not in (_tensor, _tensor_of_bytes, _parameter):
        raise refuse("a tensor with attributes is made by something that makes no tensors")
    result = function.function(*arguments)
    set_attributes(result, state)
    return result


def _ordered_dict(pairs: Any = ()) -> OrderedDict[Any, Any]:
    items = pairs.items() if isinstance(pairs, dict) else pairs
    return OrderedDict((checked_key(key), value) for key, value in items)


def _counter(counts: Any = ()) -> Counter[Any]:
    return Counter({checked_key(key): value for key, value in dict(counts).items()})


def _set(values: Any = ()) -> set[Any]:
    return {checked_key(value) for value in values}


def _encoded(text: str, encoding: str = "latin1") -> bytes:
    """Return bytes, which pickles of protocol 2 write as text."""
    if encoding not in ("latin1", "latin-1"):
        raise refuse(f"bytes are written in {encoding!r}")
    return text.encode("latin1")


def _bytearray(data: Any = b"", encoding: str = "latin1") -> bytearray:
    if not isinstance(data, (bytes, str)):
        raise refuse(f"a bytearray is made of {type(data).__name__}")
    return bytearray(data if isinstance(data, bytes) else _encoded(data, encoding))


def _complex(real: float, imag: float) -> complex:
    return complex(float(real), float(imag))


def _layout(name: str) -> Any:
    if name not in LAYOUTS:
        raise refuse(f"a layout is {name}, and tensors are {', '.join(LAYOUTS)} here")
    return LAYOUTS[name]


def _sparse(layout: Any, data: Any) -> Tensor:
    """Make a sparse tensor of its indices, values and size; indices are checked."""
    from wengert.sparse._make import sparse_compressed_tensor, sparse_coo_tensor

    if not isinstance(data, tuple) or not all(isinstance(part, Tensor) for part in data[:2]):
        raise refuse("a sparse tensor is made of something else than indices, values and a size")
    try:
        if layout == wg.sparse_coo:
            indices, values, size, *is_coalesced = data
            result = sparse_coo_tensor(indices, values, size, is_coalesced=is_coalesced == [True])
        else:
            result = sparse_compressed_tensor(*data, layout=layout)
    except (RuntimeError, TypeError, ValueError) as error:
        raise refuse(f"a sparse tensor does not fit together: {error}") from error
    return result  # type: ignore[no-any-return]


LAYOUTS = {
    "torch.strided": wg.strided, "torch.sparse_coo": wg.sparse_coo, "torch.sparse_csr": wg.sparse_csr,
    "torch.sparse_csc": wg.sparse_csc,
}  # fmt: skip

MAKES_SPARSE = ("torch._utils", "_rebuild_sparse_tensor")
MAKES_TENSOR = ("torch._utils", "_rebuild_tensor_v2")
MAKES_TENSOR_OF_BYTES = ("torch._utils", "_rebuild_tensor_v3")
MAKES_PARAMETER = ("torch._utils", "_rebuild_parameter")
MAKES_PARAMETER_WITH_ATTRIBUTES = ("torch._utils", "_rebuild_parameter_with_state")
ADDS_ATTRIBUTES = ("torch._tensor", "_rebuild_from_type_v2")
TENSOR = ("torch", "Tensor")
SIZE = ("torch", "Size")
DEVICE = ("torch", "device")
BYTES = ("torch.storage", "UntypedStorage")
LAYOUT = ("torch.serialization", "_get_layout")
ORDERED_DICT = ("collections", "OrderedDict")
COUNTER = ("collections", "Counter")
ENCODE = ("_codecs", "encode")

_FOUND: dict[tuple[str, str], Any] = {
    MAKES_TENSOR: Constructor(_tensor),
    MAKES_SPARSE: Constructor(_sparse),
    MAKES_TENSOR_OF_BYTES: Constructor(_tensor_of_bytes),
    ("torch._utils", "_rebuild_tensor"): Constructor(_tensor),
    MAKES_PARAMETER: Constructor(_parameter),
    MAKES_PARAMETER_WITH_ATTRIBUTES: Constructor(_parameter),
    ADDS_ATTRIBUTES: Constructor(_with_attributes),
    TENSOR: Tensor,
    ("torch.nn.parameter", "Parameter"): Parameter,
    SIZE: Constructor(lambda sizes=(): Size(_integers(tuple(sizes), -_LARGEST))),
    DEVICE: Constructor(lambda *where: wg.device(*where)),
    LAYOUT: Constructor(_layout),
    ORDERED_DICT: Constructor(_ordered_dict),
    COUNTER: Constructor(_counter),
    ENCODE: Constructor(_encoded),
}
for _module in ("builtins", "__builtin__"):
    _FOUND |= {
        (_module, "set"): Constructor(_set),
        (_module, "bytearray"): Constructor(_bytearray),
        (_module, "complex"): Constructor(_complex),
    }
_FOUND |= {("torch", name): dtype for name, dtype in NAMES.items()}
_STORAGE_TYPES = {("torch", name): dtype for name, dtype in STORAGES.items()} | {BYTES: wg.uint8}


class StorageType:
    """The type of a storage in a file: no value of its own."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype


def find(module: str, name: str) -> Any:
    """Return what a global name of a file means."""
    if (module, name) in _FOUND:
        return _FOUND[module, name]
    if (module, name) in _STORAGE_TYPES:
        return StorageType(_STORAGE_TYPES[module, name])
    if module == "torch" and name in UNSUPPORTED:
        raise refuse(f"it holds torch.{name}, a dtype that is not supported here; save it as float32")
    raise refuse(
        f"the file names {module}.{name}, which is neither a tensor nor a plain container. wengert.load runs no code "
        "from files, so save what it can read: tensors, state_dict(), numbers, strings and containers of these."
    )
