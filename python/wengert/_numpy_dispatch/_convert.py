"""From NumPy's arguments to wengert's."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor


def unsupported(name: str, detail: str = "") -> TypeError:
    """Return the error for what has no counterpart."""
    own = _own_name(name)
    return TypeError(
        f"[{name}] is not available for wengert tensors that require grad{': ' if detail else ''}{detail}. Use "
        f"{own or 'functions of wengert'}, or convert with tensor.detach().numpy(), which gives up gradients."
    )


def _own_name(name: str) -> str:
    """Return our function of a name of NumPy or SciPy (``numpy.cov``), or nothing."""
    last = name.rpartition(".")[2]
    modules = ("", "linalg.", "special.", "fft.", "nn.functional.")
    for module in modules if not last.startswith("_") else ():
        found: Any = wengert
        for part in f"{module}{last}".split("."):
            found = getattr(found, part, None)
        if callable(found):
            return f"wengert.{module}{last}"
    return ""


def refuse(name: str, **options: Any) -> None:
    """Raise TypeError for options that were given: they have no counterpart."""
    for option, value in options.items():
        if value is not None:
            raise unsupported(name, f"the argument {option}={value!r} has no counterpart")


def tensor(value: Any, dtype: Any = None) -> Any:
    """Return a tensor of an array-like, in another dtype if one is given."""
    if dtype is not None:
        return tensor(value).to(np.dtype(dtype) if isinstance(dtype, str) else dtype)
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)) and _holds_tensor(value):
        return wengert.stack(promoted([tensor(v) for v in value]))
    array = np.asarray(value)
    return wengert.as_tensor(array) if array.flags.writeable else wengert.tensor(array)


def _holds_tensor(values: Any) -> bool:
    """Tell whether a tensor is in nested lists."""
    return any(isinstance(v, Tensor) or (isinstance(v, (list, tuple)) and _holds_tensor(v)) for v in values)


def operand(value: Any) -> Any:
    """Return an operand of an elementwise operation: a tensor, or a number as it is."""
    return value if isinstance(value, (Tensor, int, float, complex, np.generic)) else tensor(value)


def promoted(tensors: Any) -> list[Any]:
    """Return tensors in their common dtype, as NumPy computes products and joins."""
    values = [tensor(value) for value in tensors]
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = wengert.promote_types(dtype, value.dtype)
    return [value if value.dtype == dtype else value.to(dtype) for value in values]


def written(result: Any, out: Any) -> Any:
    """Return the result, copied into ``out`` if there is one."""
    out = out[0] if isinstance(out, tuple) else out
    if out is None:
        return result
    if isinstance(out, Tensor):
        return out.copy_(result)
    if result.requires_grad:
        raise unsupported("out", "an array cannot hold a result that requires grad; write array = array + tensor")
    out[...] = result.numpy()
    return out
