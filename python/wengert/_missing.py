"""What a name that is not there says: where it is, or what to use instead.

`no_attribute` makes the AttributeError for the module ``__getattr__`` of the package and of its parts. It looks the
name up in the other public modules (``wengert.softplus`` is in `nn.functional`), and knows a few groups of names of
PyTorch, NumPy and JAX that have no counterpart. The interpreter adds "Did you mean" for names that are spelled wrongly.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

_SEARCHED = (
    "", "nn.functional", "linalg", "special", "fft", "func", "autograd", "nn", "nn.modules", "optim", "optimize",
)  # fmt: skip

_CPU = "there is no such device; devices are the CPU, meta and sim (wengert.sim)"
_PARALLEL = "one process has one CPU: call the module itself"
_SIXTEEN_BITS = "types of 16 bits are not supported, use float32 or float64"
_AS_RUN = "operations run as they are called, in the dtypes of their operands"
_DENSE = "tensors are dense; sparse derivatives are wengert.func.sparse_jacobian and sparse_hessian"

# Module and pattern of the whole name -> what to say. The first that fits is said.
_ADVICE = [
    ("", r"backends|mps|mtia|xpu", _CPU),
    ("", r"(b?float16|half|chalf|complex32|bfloat16|u?int(16|32|64)|float8\w*|(Half|BFloat16)\w+)", _SIXTEEN_BITS),
    ("", r"amp|\w*autocast\w*|GradScaler", _AS_RUN),
    ("", r"compile|compiler|jit|export|fx|make_fx", "there is nothing to compile: " + _AS_RUN),
    ("", r"\w*sparse\w*|spmm|hspmm|smm|sspaddmm", _DENSE),
    ("", r"distributed|multiprocessing|futures", "one process has one CPU; use the module multiprocessing of Python"),
    ("", r"quant\w*|q_\w+|qint\w*|quint\w*|per_(tensor|channel)\w*", "quantized types are not supported"),
    ("", r"set_default_tensor_type", "use wengert.set_default_dtype"),
    ("", r"array|ndarray", "use wengert.tensor(data), or wengert.asarray(array) to share memory"),
    ("", r"astype", "use x.to(dtype)"),
    ("", r"numpy", "NumPy's functions take tensors: numpy.sin(x) of a tensor is a tensor with its gradient"),
    ("", r"symeig", "use wengert.linalg.eigh"),
    ("nn", r"parallel|DataParallel", _PARALLEL),
    ("nn", r"attention", "use wengert.nn.functional.scaled_dot_product_attention"),
    ("optim", r"SparseAdam", _DENSE),
]  # fmt: skip


def no_attribute(module: str, name: str) -> AttributeError:
    """Return the error for a name that a public module (``nn.functional``; the package is ``""``) does not have."""
    full = _full(module)
    advice = "" if name.startswith("_") else _advice(module, name)
    return AttributeError(
        f"module {full!r} has no attribute {name!r}" + (f"; {advice}" if advice else ""),
        name=name,
        obj=importlib.import_module(full),
    )


def _full(module: str) -> str:
    return f"wengert.{module}".rstrip(".")


def advise(module: dict[str, Any]) -> None:
    """Give a public module, by its globals, the `__getattr__` that says this.

    Type checkers do not see it: with one, no name would be unknown to them.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807
        raise no_attribute(module["__name__"].removeprefix("wengert."), name)

    module["__getattr__"] = __getattr__


def _advice(module: str, name: str) -> str:
    for where in _SEARCHED:
        if where != module and _holds(where, name):
            return f"use {_full(where.removesuffix('.modules'))}.{name}"  # where it is for users
    for where, pattern, advice in _ADVICE:
        if where == module and re.fullmatch(pattern, name):
            return advice
    return ""


def _holds(module: str, name: str) -> bool:
    """Whether a public module has a public function or class of a name; not by asking its ``__getattr__``."""
    found = vars(importlib.import_module(_full(module))).get(name)
    return callable(found) and not getattr(found, "__module__", "").startswith("typing")
