"""`save` and `load`: an object with its tensors as a zip archive in PyTorch's format."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import IO, Any

import numpy as np

import wengert as wg

from ._archive import Archive, write_archive
from ._dtypes import bytes_of, flat_tensor
from ._names import StorageType, find
from ._pickle import Pickle
from ._replacing import replaced
from ._unpickle import Machine, refuse

File = str | os.PathLike[str] | IO[bytes]


def save(obj: Any, f: File, pickle_module: Any = pickle, pickle_protocol: int = 2) -> None:
    """Write an object with its tensors to a file that `load` and ``torch.load`` read.

    Values, strides, `requires_grad`, shared memory and attributes of tensors are kept; `.grad`, history and hooks are
    not. A file that is there already stays as it is until all is written.

    Parameters
    ----------
    obj : object
        Tensors, parameters, numbers, strings, dtypes, and lists, tuples, dictionaries and sets of these.
    f : str, path or binary file
        Where to.
    pickle_module, pickle_protocol
        Accepted for compatibility: the pickle in a file is one that can be read without running code.

    Raises
    ------
    TypeError
        If `obj` holds something that `load` would refuse, such as an object of a class of yours.
    RuntimeError
        If tensors of different dtypes lie on the same memory.

    See Also
    --------
    wengert.utils.safetensors.save_file : A simpler format, for dictionaries of tensors.

    Examples
    --------
    >>> import io
    >>> import wengert as wg
    >>> file = io.BytesIO()
    >>> wg.save({"w": wg.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> wg.load(file)
    {'w': tensor([1., 1.])}
    """
    writer = Pickle()
    described = writer.dump(obj)
    records = [("data.pkl", memoryview(described)), ("byteorder", memoryview(sys.byteorder.encode()))]
    records += [(f"data/{storage.key}", bytes_of(storage.elements()).data) for storage in writer.storages]
    records.append(("version", memoryview(b"3\n")))
    named = isinstance(f, (str, os.PathLike))
    folder = os.path.splitext(os.path.basename(os.fspath(f)))[0] if named else "archive"  # type: ignore[arg-type]
    with replaced(f) if named else nullcontext(f) as file:  # type: ignore[arg-type]
        write_archive(file, folder or "archive", records)  # type: ignore[arg-type]


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
) -> Any:
    """Read a file of `save` or ``torch.save``, without running code from it.

    Parameters
    ----------
    f : str, path or binary file
        The file; one that is open must be seekable.
    map_location : device, str, dict or callable, optional
        The device that tensors go to; the CPU where none is named, wherever they were saved. A dict or a function,
        which PyTorch asks where things were, changes nothing.
    pickle_module : optional
        Accepted for compatibility.
    weights_only : bool, default True
        Must hold.
    mmap : bool, optional
        Whether to map the file instead of reading it, so that pages are read when they are used. Writes to the tensors
        do not reach the file. Needs a path.

    Returns
    -------
    object
        Tensors that shared memory when they were saved share it again.

    Raises
    ------
    pickle.UnpicklingError
        If the file has anything in it but tensors and plain containers, or does not fit together.
    RuntimeError
        If the file is damaged or no archive of tensors.
    ValueError
        If `weights_only` is false: use the module pickle of Python for files that you trust.

    See Also
    --------
    save
    """
    if not weights_only:
        raise ValueError(
            "[load] weights_only=False would run code from the file, which wengert.load never does; "
            "save tensors and state_dict() and load those, or use the module pickle of Python for files that you trust"
        )
    named_device = not (map_location is None or callable(map_location) or isinstance(map_location, dict))
    device = wg.device(map_location if named_device else "cpu")
    named = isinstance(f, (str, os.PathLike))
    if mmap and not named:
        raise ValueError("[load] mmap=True needs the path of a file, not a file that is open")
    with open(f, "rb") if named else nullcontext(f) as file:  # type: ignore[arg-type]
        mapped = np.asarray(np.memmap(f, np.uint8, "c")) if mmap and os.path.getsize(f) else None  # type: ignore[arg-type]
        archive = Archive(file, mapped)  # type: ignore[arg-type]
        return Machine(find, _loader_of_storages(archive, device)).run(archive.read("data.pkl"))


def _loader_of_storages(archive: Archive, device: Any) -> Callable[[Any], Any]:
    """Return the function from a reference to a storage to its elements on a device, one tensor for each storage."""
    big_endian = archive.read("byteorder").strip() == b"big" if "byteorder" in archive else False
    loaded: dict[str, Any] = {}

    def load_storage(reference: Any) -> Any:
        if not (type(reference) is tuple and len(reference) == 5 and reference[0] == "storage"):
            raise refuse("it refers to something that is no storage")
        _, kind, key, _, numel = reference
        if not (isinstance(kind, StorageType) and type(key) is str and type(numel) is int and numel >= 0):
            raise refuse("its reference to a storage has the wrong types")
        if key not in loaded:
            data = archive.read_storage(f"data/{key}", numel * kind.dtype.itemsize)
            loaded[key] = flat_tensor(data, kind.dtype, big_endian != (sys.byteorder == "big")).to(device)
        if loaded[key].dtype != kind.dtype:
            raise refuse(f"the storage {key} is used with two dtypes")
        return loaded[key]

    return load_storage
