"""The pickle of a file: an object written with the instructions and names that `torch.load` and `load` both know."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from wengert import _C
from wengert._C import Size, Tensor, device
from wengert.nn._parameter import Parameter

from . import _names
from ._dtypes import STORAGE_OF
from ._unpickle import is_attribute, is_key


class Storage:
    """Memory that tensors share: where it begins, and how far the tensors that are saved reach."""

    def __init__(self, key: int, dtype: Any) -> None:
        self.key, self.dtype = key, dtype
        self.numel = 0
        self.widest: Any = None  # a tensor on it

    def add(self, tensor: Any) -> None:
        """Take a tensor into account."""
        self.widest = tensor
        if tensor.numel():
            steps = zip(tensor.shape, tensor.stride(), strict=True)
            last = tensor.storage_offset() + sum((size - 1) * stride for size, stride in steps)
            self.numel = max(self.numel, last + 1)

    @property
    def length(self) -> int:
        """What files say of it: how many elements, or bytes where its dtype is named by the tensors alone."""
        return self.numel if self.dtype in STORAGE_OF else self.numel * int(self.dtype.itemsize)

    def elements(self) -> Any:
        """Return the memory as a tensor of one dimension."""
        return self.widest.as_strided((self.numel,), (1,), 0)


class Pickle:
    """Writes one object. `storages` are those it refers to, in the order of their keys."""

    def __init__(self) -> None:
        self.storages: list[Storage] = []
        self._by_address: dict[Any, Storage] = {}
        self._out: list[bytes | Storage] = [b"\x80\x02"]
        self._memo: dict[Any, int] = {}
        self._kept: list[Any] = []  # so that no id in the memo is taken again

    def dump(self, obj: Any) -> bytes:
        """Return the pickle of an object.

        Raises
        ------
        TypeError
            If it holds something that `load` would refuse.
        """
        try:
            self._write(obj)
        except RecursionError:
            raise ValueError("[save] the object is nested too deeply, or a tuple in it holds itself") from None
        # How much of a storage is saved is known when all tensors have been seen.
        parts = [_integer(part.length) if isinstance(part, Storage) else part for part in self._out]
        return b"".join([*parts, b"."])

    def _emit(self, *codes: bytes | Storage) -> None:
        self._out.extend(codes)

    def _write(self, obj: Any) -> None:
        kind = type(obj)
        if kind in _ATOMS:
            self._emit(_ATOMS[kind](obj))
            return
        if id(obj) in self._memo:
            self._recall(id(obj))
            return
        if issubclass(kind, Tensor) and obj.layout != _C.strided:
            self._sparse(obj)
            return
        if kind not in _WRITERS:
            raise TypeError(
                f"[save] the object holds a {kind.__module__}.{kind.__qualname__}, and files hold tensors, numbers, "
                f"strings and plain containers; {_remedy(obj)}"
            )
        _WRITERS[kind](self, obj)

    def _remember(self, obj: Any, key: Any = None) -> None:
        index = len(self._memo)
        self._kept.append(obj)
        self._memo[id(obj) if key is None else key] = index
        self._emit(b"q" + bytes([index]) if index < 256 else b"r" + struct.pack("<I", index))

    def _recall(self, key: Any) -> None:
        index = self._memo[key]
        self._emit(b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index))

    def _name(self, name: tuple[str, str]) -> None:
        if name in self._memo:
            self._recall(name)
        else:
            self._emit(b"c" + f"{name[0]}\n{name[1]}\n".encode())
            self._remember(None, name)

    def _call(self, name: tuple[str, str], *arguments: Callable[[], None]) -> None:
        """Write the result of a call, whose arguments are written by functions."""
        self._name(name)
        self._emit(b"(")
        for write in arguments:
            write()
        self._emit(b"tR")

    def _values(self, name: tuple[str, str], obj: Any, *arguments: Any) -> None:
        """Write an object as the result of a call with arguments of other types."""
        self._call(name, *[partial(self._write, value) for value in arguments])
        self._remember(obj)

    # --- Containers
    def _tuple(self, obj: tuple[Any, ...]) -> None:
        self._emit(b"(")
        for value in obj:
            self._write(value)
        self._emit(b"t")
        self._remember(obj)

    def _list(self, obj: list[Any]) -> None:
        self._emit(b"]")
        self._remember(obj)
        self._emit(b"(")
        for value in obj:
            self._write(value)
        self._emit(b"e")

    def _dict(self, obj: dict[Any, Any]) -> None:
        self._emit(b"}")
        self._remember(obj)
        self._items(obj.items())

    def _items(self, items: Iterable[tuple[Any, Any]]) -> None:
        self._emit(b"(")
        for key, value in items:
            self._write(_checked_key(key))
            self._write(value)
        self._emit(b"u")

    def _ordered_dict(self, obj: OrderedDict[Any, Any]) -> None:
        self._call(_names.ORDERED_DICT)
        self._remember(obj)
        self._items(obj.items())
        if vars(obj):  # as the _metadata of a state_dict
            self._write(_attributes_of(obj))
            self._emit(b"b")

    # --- Tensors
    def _tensor(self, obj: Any) -> None:
        attributes = _attributes_of(obj)
        if type(obj) is Parameter:
            name = _names.MAKES_PARAMETER_WITH_ATTRIBUTES if attributes else _names.MAKES_PARAMETER
            rest = [attributes] if attributes else []
            data = obj.detach()
            self._values(name, obj, data.as_subclass(Tensor), obj.requires_grad, OrderedDict(), *rest)
        elif attributes:
            plain = self._arguments_of_tensor(obj)
            self._call(
                _names.ADDS_ATTRIBUTES,
                lambda: self._name(_maker(obj.dtype)),
                lambda: self._name(_names.TENSOR),
                lambda: self._group(plain),
                lambda: self._write(attributes),
            )
            self._remember(obj)
        else:
            self._call(_maker(obj.dtype), *self._arguments_of_tensor(obj))
            self._remember(obj)

    def _sparse(self, obj: Any) -> None:
        plain = obj.detach()
        if obj.layout == _C.sparse_coo:
            parts = (plain._indices(), plain._values(), obj.shape, obj.is_coalesced())
        elif obj.layout == _C.sparse_csr:
            parts = (plain.crow_indices(), plain.col_indices(), plain.values(), obj.shape)
        else:
            parts = (plain.ccol_indices(), plain.row_indices(), plain.values(), obj.shape)
        self._kept.append(parts)
        self._values(_names.MAKES_SPARSE, obj, obj.layout, parts)

    def _group(self, arguments: list[Callable[[], None]]) -> None:
        self._emit(b"(")
        for write in arguments:
            write()
        self._emit(b"t")

    def _arguments_of_tensor(self, obj: Any) -> list[Callable[[], None]]:
        plain = obj.detach().resolve_conj().resolve_neg()
        storage = self._storage_of(plain)
        storage.add(plain)
        self._kept.append(plain)
        geometry: list[Any] = [plain.storage_offset(), tuple(plain.shape), tuple(plain.stride())]
        rest = [*geometry, obj.requires_grad, OrderedDict(), *([] if obj.dtype in STORAGE_OF else [obj.dtype])]
        return [partial(self._reference, storage), *[partial(self._write, value) for value in rest]]

    def _storage_of(self, plain: Any) -> Storage:
        """Return the storage of a tensor, the same one for all that begin at the same address."""
        start = plain.data_ptr() - plain.storage_offset() * plain.element_size()
        address = start if plain.numel() else ("empty", len(self.storages))
        if address not in self._by_address:
            self._by_address[address] = Storage(len(self.storages), plain.dtype)
            self.storages.append(self._by_address[address])
        storage = self._by_address[address]
        if storage.dtype != plain.dtype:
            raise RuntimeError(
                "[save] Cannot save multiple tensors that view the same data as different types: "
                f"{storage.dtype} and {plain.dtype}; save a clone() of one of them"
            )
        return storage

    def _reference(self, storage: Storage) -> None:
        self._emit(b"(", _text("storage"))
        named = storage.dtype in STORAGE_OF
        self._name(("torch", STORAGE_OF[storage.dtype]) if named else _names.BYTES)
        self._emit(_text(str(storage.key)), _text("cpu"), storage, b"tQ")


def _maker(dtype: Any) -> tuple[str, str]:
    return _names.MAKES_TENSOR if dtype in STORAGE_OF else _names.MAKES_TENSOR_OF_BYTES


def _checked_key(key: Any) -> Any:
    if not is_key(key):
        raise TypeError(
            f"[save] a key is a {type(key).__qualname__}; keys in files are strings, numbers, and tuples of these"
        )
    return key


def _attributes_of(obj: Any) -> dict[str, Any]:
    for name in vars(obj):
        if not is_attribute(obj, name):
            raise TypeError(
                f"[save] an attribute of a {type(obj).__qualname__} hides its {name!r}; give it another name"
            )
    return dict(vars(obj))


def _integer(value: int) -> bytes:
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    length = value.bit_length() // 8 + 1
    if length > 255:
        raise ValueError("[save] an integer has more than 2000 bits")
    return b"\x8a" + bytes([length]) + value.to_bytes(length, "little", signed=True)


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def _remedy(obj: Any) -> str:
    if hasattr(obj, "state_dict"):
        return "save its state_dict()"
    if isinstance(obj, Tensor):
        return "save x.as_subclass(wengert.Tensor)"
    if type(obj).__module__.partition(".")[0] == "numpy":
        return "save x.item(), or wengert.from_numpy(x)"
    return "save what it is made of, or use the module pickle of Python"


_ATOMS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"\x88" if value else b"\x89",
    int: _integer,
    float: lambda value: b"G" + struct.pack(">d", value),
    str: _text,
}

_WRITERS: dict[type, Callable[[Any, Any], None]] = {
    tuple: Pickle._tuple,
    list: Pickle._list,
    dict: Pickle._dict,
    OrderedDict: Pickle._ordered_dict,
    Tensor: Pickle._tensor,
    Parameter: Pickle._tensor,
    Counter: lambda pickle, obj: pickle._values(_names.COUNTER, obj, dict(obj)),
    set: lambda pickle, obj: pickle._values(("builtins", "set"), obj, [_checked_key(value) for value in obj]),
    complex: lambda pickle, obj: pickle._values(("builtins", "complex"), obj, obj.real, obj.imag),
    bytes: lambda pickle, obj: pickle._values(_names.ENCODE, obj, obj.decode("latin1"), "latin1"),
    bytearray: lambda pickle, obj: pickle._values(("builtins", "bytearray"), obj, bytes(obj)),
    Size: lambda pickle, obj: pickle._values(_names.SIZE, obj, tuple(obj)),
    device: lambda pickle, obj: pickle._values(
        _names.DEVICE, obj, obj.type, *([] if obj.index is None else [obj.index])
    ),
    _C.layout: lambda pickle, obj: pickle._values(_names.LAYOUT, obj, str(obj).replace("wengert", "torch")),
    _C.dtype: lambda pickle, obj: pickle._name(("torch", str(obj).rpartition(".")[2])),
}
