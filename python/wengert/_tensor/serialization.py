"""Tensors on disk: `save` and `load`, on top of pickle."""

from __future__ import annotations

import os
import pickle
from contextlib import nullcontext
from typing import IO, Any

# What files may name if they are read with ``weights_only``: what tensors, parameters and plain containers are made of.
_ALLOWED = {
    ("builtins", "bytearray"), ("builtins", "complex"), ("builtins", "set"), ("builtins", "frozenset"),
    ("__builtin__", "bytearray"), ("__builtin__", "complex"), ("__builtin__", "set"), ("__builtin__", "frozenset"),
    ("_codecs", "encode"),
    ("collections", "OrderedDict"), ("collections", "defaultdict"), ("collections", "Counter"),
    ("numpy", "dtype"), ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"), ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"), ("numpy._core.numeric", "_frombuffer"),
    ("wengert._copying", "rebuild_tensor"), ("wengert._C", "Tensor"), ("wengert._C", "Size"), ("wengert", "Tensor"),
    ("wengert", "Size"), ("wengert.nn._parameter", "Parameter"),
}  # fmt: skip


class _WeightsUnpickler(pickle.Unpickler):
    """Reads tensors and plain containers and nothing that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"Weights only load failed: the file names {module}.{name}, which is neither a tensor nor a plain "
            "container. If you trust the file, read it with weights_only=False; it may then run any code."
        )


def save(
    obj: Any, f: str | os.PathLike[str] | IO[bytes], pickle_module: Any = pickle, pickle_protocol: int = 2
) -> None:
    """Write an object with its tensors to a file.

    Values, strides, `requires_grad` and attributes of tensors are kept; `.grad`, history and hooks are not.

    Parameters
    ----------
    obj : object
        A tensor, a dictionary of tensors, or anything that can be pickled.
    f : str, path or binary file
        Where to.
    pickle_module : module, default pickle
    pickle_protocol : int, default 2

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
    with open(f, "wb") if isinstance(f, (str, os.PathLike)) else nullcontext(f) as file:
        pickle_module.dump(obj, file, protocol=pickle_protocol)


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
) -> Any:
    """Read what `save` has written.

    Parameters
    ----------
    f : str, path or binary file
    map_location : optional
        Accepted for compatibility: there is one device.
    pickle_module : module, optional
        Only without `weights_only`.
    weights_only : bool, default True
        Whether to refuse everything but tensors and plain containers. Other files can run any code when they are read.

    Returns
    -------
    object

    Raises
    ------
    pickle.UnpicklingError
        If the file has something else in it and `weights_only` holds.
    """
    with open(f, "rb") if isinstance(f, (str, os.PathLike)) else nullcontext(f) as file:
        return _WeightsUnpickler(file).load() if weights_only else (pickle_module or pickle).load(file)
