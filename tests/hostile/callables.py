"""Everything that can be called with a tensor: functions, methods, attributes, protocols of Python and NumPy."""

from __future__ import annotations

import array
import copy
import importlib
import io
import math
import operator
import pickle
import pkgutil
import struct
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import wengert as wg
from wengert.func._batched_tensor import BatchedTensor

from . import internals
from .calls import LEFT_OUT

# What an object says of itself, and what every object has.
OWN = {name for name in dir(object) if name not in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")} | {
    "__module__", "__dict__", "_use_count", "__init_subclass__",
}  # fmt: skip
UNWRITTEN = {"empty_like", "new_empty", "new_empty_strided", "new"}  # elements that nobody wrote
ABOUT_BATCHES = {"_batched_dim", "_batched_level", "_batched_value", "_unbatched", "_expanded", "_ensure_batched",
                 "_is_sample", "_memory_of", "debug_unwrap", "_has_torch_function",
                 "has_torch_function", "has_torch_function_unary",
                 "has_torch_function_variadic"}  # fmt: skip
# Which give more than samples do, where those raise.
EXEMPT = {
    "orgqr": "vectors and factors broadcast", "ormqr": "vectors and factors broadcast",
    "householder_product": "vectors and factors broadcast", "topk": "of a number, k = 0",
    "group_norm": "real input and complex scales", "adaptive_max_pool1d": "to length 0, where samples have no N",
    "adaptive_max_pool1d_with_indices": "to length 0, where samples have no N",
}  # fmt: skip


# Python's and NumPy's ways to look at an object.
PROTOCOLS: dict[str, Callable[..., Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index, "round": round,
    "floor": math.floor, "sqrt": math.sqrt, "len": len, "list": list, "tuple": tuple, "sum": sum, "max": max,
    "sorted": sorted, "reversed": lambda x: list(reversed(x)), "in": lambda x, y: x in of_tensor(y),
    "in a list": lambda x, y: x in [y], "equal lists": lambda x, y: [x] == [y], "format": lambda x: f"{x:.2f}",
    "str": str, "repr": repr, "bytes": bytes, "memoryview": memoryview,
    "bytearray": bytearray, "range index": lambda x: range(10)[x], "list index": lambda x: list(range(10))[x],
    "list slice": lambda x: list(range(10))[:x], "repeat": lambda x: [1] * of_tensor(x),
    "pack": lambda x: struct.pack("d", x), "array": lambda x: array.array("d", [x]),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)), "copy": copy.copy, "deepcopy": copy.deepcopy,
    "save": lambda x: wg.save(x, io.BytesIO()), "isinstance": lambda x: isinstance(x, wg.Tensor),
    "weak reference": lambda x: weakref.ref(x)() is x, "hash": lambda x: hash(x) == hash(x),
    "own attribute": lambda x, y: (setattr(of_tensor(x), "note", y), x.note),
    "np.asarray": np.asarray, "np.array": np.array,
    "np.array of a list": lambda x: np.array([x, x]), "np.float64": np.float64, "np.from_dlpack": np.from_dlpack,
    "np.add": np.add, "np.add of an array": lambda x: np.ones(3) + x, "np.matmul": lambda x: np.ones(3) @ x,
    "np.copyto": lambda x: np.copyto(np.ones(3), x), "np.where": lambda x: np.where(x, 1, 0),
    "np.sum": np.sum, "np.index": lambda x: np.arange(5)[x], "np.fill": lambda x: np.full(3, x),
    "hook": lambda x: of_tensor(x).requires_grad_().register_hook(lambda g: g),
    "imaginary part": lambda x, y: setattr(x, "imag", y),
    "backward": lambda x: (x * 2).sum().backward(),
}  # fmt: skip


def public_modules() -> Iterator[tuple[str, Any]]:
    yield "wengert", wg
    for found in pkgutil.walk_packages(wg.__path__, "wengert."):
        if "._" not in found.name:
            yield found.name, importlib.import_module(found.name)


def is_foreign(value: Any) -> bool:
    """Whether it belongs to another package, whose functions compat.autograd.numpy and its like pass on."""
    owner = getattr(value, "__module__", None)
    return isinstance(value, types.ModuleType) or (
        isinstance(owner, str) and owner.split(".")[0] not in ("wengert", "builtins")
    )


def functions() -> dict[str, Callable[..., Any]]:
    """Everything that can be called with a tensor, by name; each once."""
    found: dict[str, Callable[..., Any]] = {}
    for path, module in public_modules():
        for name in dir(module):
            value = getattr(module, name)
            if callable(value) and not name.startswith("_") and not is_foreign(value):
                found[f"{path}.{name}"] = value
    for name in dir(wg.Tensor):
        if name in OWN:
            continue
        if callable(getattr(wg.Tensor, name)):
            found[f"Tensor.{name}"] = getattr(wg.Tensor, name)
            if name in vars(BatchedTensor):
                found[f"x.{name}"] = method(name)
        else:
            found[f"get {name}"] = getter(name)
            found[f"set {name}"] = setter(name)
    found |= internals.functions()
    found |= {f"protocol {name}": function for name, function in PROTOCOLS.items()}
    seen: set[int] = set()
    left = {}
    for name, function in sorted(found.items(), key=lambda item: (item[0].startswith("_C"), item[0])):
        if not is_left_out(name) and id(function) not in seen:
            seen.add(id(function))
            left[name] = function
    return left


def is_left_out(name: str) -> bool:
    last = name.split(".")[-1]
    return last in LEFT_OUT | internals.KEPT_AWAY | UNWRITTEN | ABOUT_BATCHES | EXEMPT.keys()


def of_tensor(value: Any) -> Any:
    if not isinstance(value, wg.Tensor):
        raise TypeError("no tensor")
    return value


def method(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(of_tensor(self), name)(*args, **kwargs)


def getter(name: str) -> Callable[..., Any]:
    return lambda self: getattr(of_tensor(self), name)


def setter(name: str) -> Callable[..., Any]:
    return lambda self, value: setattr(of_tensor(self), name, value)
