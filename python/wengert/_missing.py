"""What a name that is not there says: where it is, or what to use instead.

`no_attribute` makes the AttributeError for the module ``__getattr__`` of the package and of its parts. It looks the
name up in the other public modules (``wengert.softplus`` is in `nn.functional`), and knows a few groups of names of
PyTorch, NumPy and JAX that have no counterpart. The interpreter adds "Did you mean" for names that are spelled wrongly.

All of this happens when the message is read: programs that ask with ``hasattr`` load no module.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

_SEARCHED = (
    "", "nn.functional", "linalg", "special", "fft", "func", "autograd", "nn", "nn.init", "nn.utils", "nn.utils.rnn",
    "optim", "optim.lr_scheduler", "optim.swa_utils", "optimize", "utils.data", "distributions", "library",
)  # fmt: skip

_DEVICES = "there is no such device; devices are the CPU, meta and sim (wengert.sim)"
_PROCESSES = (
    "processes do not share tensors; use wengert.distributed, the module multiprocessing of Python, or "
    "wengert.utils.data.DataLoader"
)
_PARALLEL = (
    "nothing splits a batch over devices; wengert.nn.parallel.DistributedDataParallel trains in several processes"
)
_EIGHT_BITS = "numbers of 8 bits or less with a fraction are not supported, use float32 or float64"
_COMPLEX = "complex numbers with parts of 16 bits are not supported, use complex64 or complex128"
_AS_RUN = "operations run as they are called, in the dtypes of their operands"
_SPARSE = (
    "sparse tensors are those of wengert.sparse; sparse derivatives wengert.func.sparse_jacobian and sparse_hessian"
)

# Module and pattern of the whole name -> what to say. The first that fits is said.
_ADVICE = [
    ("", r"backends|mps|mtia|xpu", _DEVICES),
    ("", r"float[48]_\w*", _EIGHT_BITS),
    ("", r"chalf|complex32", _COMPLEX),
    ("", r"compile|compiler|jit|export|fx|make_fx", "there is nothing to compile: " + _AS_RUN),
    ("", r"\w*sparse\w*|spmm|hspmm|smm|sspaddmm", _SPARSE),
    ("", r"multiprocessing|futures", _PROCESSES),
    ("", r"quant\w*|q_\w+|qint\w*|quint\w*|per_(tensor|channel)\w*", "quantized types are not supported"),
    ("", r"set_default_tensor_type", "use wengert.set_default_dtype"),
    ("", r"array|ndarray", "use wengert.tensor(data), or wengert.asarray(array) to share memory"),
    ("", r"astype", "use x.to(dtype)"),
    ("", r"numpy", "NumPy's functions take tensors: numpy.sin(x) of a tensor is a tensor with its gradient"),
    ("", r"symeig", "use wengert.linalg.eigh"),
    ("nn", r"DataParallel", _PARALLEL),
    ("nn", r"attention", "use wengert.nn.functional.scaled_dot_product_attention"),
    ("library", r"triton_op|wrap_triton", "there is no Triton; use wengert.library.custom_op"),
]  # fmt: skip


def no_attribute(module: str, name: str) -> AttributeError:
    """Return the error for a name that a public module (``nn.functional``; the package is ``""``) does not have."""
    return AttributeError(_Message(module, name), name=name, obj=importlib.import_module(_full(module)))


class _Message:
    """What such an error says, made when it is read."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __str__(self) -> str:
        advice = "" if self._name.startswith("_") else _advice(self._module, self._name)
        said = f"module {_full(self._module)!r} has no attribute {self._name!r}"
        return f"{said}; {advice}" if advice else said

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


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
            return f"use {_full(where)}.{name}"
    for where, pattern, advice in _ADVICE:
        if where == module and re.fullmatch(pattern, name):
            return advice
    return ""


def _holds(module: str, name: str) -> bool:
    """Whether a public module lists a name or, without a list, has such a function or class."""
    names = vars(importlib.import_module(_full(module)))
    if "__all__" in names:
        return name in names["__all__"]
    found = names.get(name)
    return callable(found) and not getattr(found, "__module__", "").startswith("typing")
