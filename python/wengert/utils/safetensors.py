"""Dictionaries of tensors as files in the safetensors format.

A file is the length of a header (eight bytes), the header, which is JSON and says for each name the dtype, the shape
and where the bytes are, and the bytes, row by row, without gaps. There is nothing in it that could run.

The functions bear the names of the package ``safetensors``, whose files they read and write; it need not be installed.
Source: https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

import wengert as wg
from wengert._C import Tensor
from wengert._files._dtypes import SAFETENSORS, SAFETENSORS_OF, bytes_of, flat_tensor
from wengert._files._replacing import replaced

__all__ = ["SafetensorError", "load", "load_file", "safe_open", "save", "save_file"]

Bytes = np.ndarray[Any, Any]
Path = str | os.PathLike[str]

_LONGEST_HEADER = 100_000_000  # a limit of the format


class SafetensorError(Exception):
    """A file or bytes that break the rules of the format."""


def _header_of(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> bytes:
    """Return the length and the header, padded so that the bytes begin at a multiple of eight."""
    header: dict[str, Any] = {}
    if metadata is not None:
        if not all(isinstance(text, str) for pair in metadata.items() for text in pair):
            raise TypeError("[save_file] metadata must map strings to strings")
        header["__metadata__"] = dict(metadata)
    end = 0
    for name, tensor in tensors.items():
        if not isinstance(name, str) or name == "__metadata__" or not isinstance(tensor, Tensor):
            raise TypeError(f"[save_file] tensors must map names to tensors, but {name!r} is {type(tensor).__name__}")
        if tensor.dtype not in SAFETENSORS_OF or SAFETENSORS_OF[tensor.dtype] == "C128":
            raise TypeError(f"[save_file] the format has no dtype for {name!r}, which is {tensor.dtype}")
        start, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": SAFETENSORS_OF[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def _pieces(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> list[bytes | memoryview]:
    """Return what a file consists of: the widest elements come first, so that all are aligned."""
    ordered = dict(sorted(tensors.items(), key=lambda item: (-getattr(item[1], "itemsize", 0), str(item[0]))))
    return [_header_of(ordered, metadata), *(bytes_of(tensor).data for tensor in ordered.values())]


def save_file(tensors: Mapping[str, Tensor], filename: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors to a file.

    Values, shapes and dtypes are kept; tensors that share memory do not share it afterwards. A file that is there
    already stays as it is until all is written.

    Parameters
    ----------
    tensors : dict
        Maps names to tensors.
    filename : str or path
        Where to.
    metadata : dict of str, optional
        Notes to keep in the file.

    Raises
    ------
    TypeError
        If something in `tensors` is no tensor or of a dtype that the format does not have.

    Examples
    --------
    >>> import tempfile
    >>> import wengert as wg
    >>> from wengert.utils.safetensors import load_file, save_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"weight": wg.ones(2)}, folder + "/x.safetensors")
    ...     load_file(folder + "/x.safetensors")
    {'weight': tensor([1., 1.])}
    """
    pieces = _pieces(tensors, metadata)
    with replaced(filename) as file:
        file.writelines(pieces)


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return what `save_file` would write, as bytes."""
    return b"".join(_pieces(tensors, metadata))


def load_file(filename: Path, device: Any = "cpu") -> dict[str, Tensor]:
    """Read all tensors of a file.

    The file is mapped: for tensors on the CPU, pages are read when they are used. Writes to tensors do not reach it.

    Parameters
    ----------
    filename : str or path
        The file.
    device : wengert.device or str, default "cpu"
        Where the tensors are to be.

    Returns
    -------
    dict of str to Tensor

    Raises
    ------
    SafetensorError
        If the file breaks the rules of the format.
    """
    with safe_open(filename, framework="wengert", device=device) as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no mapping


def load(data: bytes) -> dict[str, Tensor]:
    """Return the tensors in bytes that `save` has made."""
    content = np.frombuffer(bytearray(data), np.uint8)
    entries, _, start = _parse(content)
    return {name: _tensor(content[start:], entry) for name, entry in entries.items()}


class safe_open:
    """A file whose tensors are read one by one.

    Parameters
    ----------
    filename : str or path
        The file.
    framework : str
        Accepted for compatibility: tensors are Wengert's.
    device : wengert.device or str, default "cpu"
        Where the tensors are to be.

    Raises
    ------
    SafetensorError
        If the file breaks the rules of the format.
    """

    def __init__(self, filename: Path, framework: str = "wengert", device: Any = "cpu") -> None:
        self._device = wg.device(device)
        size = os.path.getsize(filename)
        content: Bytes = np.asarray(np.memmap(filename, np.uint8, "c")) if size else np.empty(0, np.uint8)
        self._entries, self._metadata, start = _parse(content)
        self._data: Bytes | None = content[start:]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._data = None

    def keys(self) -> list[str]:
        """Return the names of the tensors, in the order of their bytes."""
        return list(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def metadata(self) -> dict[str, str] | None:
        """Return the notes in the file."""
        return self._metadata

    def get_tensor(self, name: str) -> Tensor:
        """Return one tensor."""
        if name not in self._entries:
            raise SafetensorError(f"the file has no tensor named {name!r}")
        if self._data is None:
            raise SafetensorError("the file is closed")
        return _tensor(self._data, self._entries[name]).to(self._device)


def _parse(content: Bytes) -> tuple[dict[str, dict[str, Any]], dict[str, str] | None, int]:
    """Return the checked entries of a header, in the order of their bytes, the notes, and where the bytes begin."""
    if content.size < 8:
        raise SafetensorError("the file is shorter than the length of a header")
    (length,) = struct.unpack("<Q", content[:8].tobytes())
    start = 8 + length
    if length > _LONGEST_HEADER or start > content.size:
        raise SafetensorError(f"the header has {length} bytes, which is too much or more than the file has")
    try:
        header = json.loads(content[8:start].tobytes().decode(), object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        raise SafetensorError(f"the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise SafetensorError("the header is no object of JSON")
    metadata = header.pop("__metadata__", None)
    if metadata is not None and not (
        isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())
    ):
        raise SafetensorError("__metadata__ does not map strings to strings")
    for name, entry in header.items():
        _check_entry(name, entry)
    ordered = dict(sorted(header.items(), key=lambda item: item[1]["data_offsets"]))
    end = 0
    for name, entry in ordered.items():
        if entry["data_offsets"][0] != end:
            raise SafetensorError(f"the bytes of {name!r} overlap others or leave a gap")
        end = entry["data_offsets"][1]
    if end != content.size - start:
        raise SafetensorError(f"the tensors have {end} bytes, and the file has {content.size - start}")
    return ordered, metadata, start


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands there twice")
    return result


def _check_entry(name: str, entry: Any) -> None:
    def natural(value: Any, count: int | None = None) -> bool:
        right = isinstance(value, list) and all(type(n) is int and 0 <= n < 1 << 63 for n in value)
        return right and (count is None or len(value) == count)

    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise SafetensorError(f"the entry of {name!r} needs dtype, shape and data_offsets")
    if not (isinstance(entry["dtype"], str) and entry["dtype"] in SAFETENSORS):
        raise SafetensorError(f"the dtype of {name!r} is {entry['dtype']!r}; here there are {', '.join(SAFETENSORS)}")
    if not natural(entry["shape"]) or len(entry["shape"]) > 64 or not natural(entry["data_offsets"], 2):
        raise SafetensorError(f"the shape or the offsets of {name!r} are no natural numbers")
    start, end = entry["data_offsets"]
    size = math.prod(entry["shape"]) * SAFETENSORS[entry["dtype"]].itemsize
    if end - start != size:
        raise SafetensorError(f"{name!r} has {end - start} bytes, but its shape needs {size}")


def _tensor(data: Bytes, entry: dict[str, Any]) -> Tensor:
    start, end = entry["data_offsets"]
    flat = flat_tensor(data[start:end], SAFETENSORS[entry["dtype"]])
    result: Tensor = flat.reshape(entry["shape"]).detach()
    return result
