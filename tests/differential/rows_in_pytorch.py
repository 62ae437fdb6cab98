"""A row of the table computed by PyTorch: its function of the same name, called as its signature wants."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import wengert as wg
from tests.ops.operations import OPERATIONS, Operation

torch = pytest.importorskip("torch")


def torch_function(operation: Operation) -> Any:
    """PyTorch's function or method of the same name, or None."""
    name, namespace = operation.python["name"], operation.python["namespace"]
    if namespace == "private":
        return None
    if operation.writes_only or "function" not in operation.methods:
        return getattr(torch.Tensor, name, None)
    module = functools.reduce(lambda m, part: getattr(m, part, None), namespace.split(".") if namespace else [], torch)
    return getattr(module, name, None) or (None if namespace else getattr(torch.Tensor, name, None))


ROWS = [o for o in OPERATIONS if torch_function(o)]


def is_tensor_like(value: Any) -> bool:
    return isinstance(value, torch.Tensor) or (isinstance(value, list) and any(map(is_tensor_like, value)))


def spellings(operation: Operation, arguments: dict[str, Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """How PyTorch's signature may want the arguments: (positional, by keyword)."""
    names = [a["name"] for a in operation.arguments]
    positional, keywords = operation.split(arguments)
    tensors = next((i for i, v in enumerate(positional) if not is_tensor_like(v)), len(positional))
    by_name = dict(zip(names[tensors:], positional[tensors:], strict=False))
    yield positional[:tensors], by_name | keywords  # losses have older parameters in between
    yield positional, keywords
    dtype = next((t.dtype for t in tensors_in(arguments)), None)
    operands = {a["name"] for a in operation.arguments if a["type"] == "Operand"}
    yield [torch.tensor(v, dtype=dtype) if n in operands and not is_tensor_like(v) else v
           for n, v in zip(names, positional, strict=False)], keywords  # fmt: skip
    if positional and isinstance(positional[0], list):  # tensors one by one
        yield [*positional[0], *positional[1:]], keywords
    if len(arguments.get("dim") or ()) == 1:
        yield positional[:1], {**by_name, **keywords, "dim": arguments["dim"][0]}


def tensors_in(arguments: dict[str, Any]) -> Iterator[Any]:
    for value in arguments.values():
        yield from (v for v in (value if isinstance(value, list) else [value]) if isinstance(v, torch.Tensor))


class TorchOperation(Operation):
    """The same row, computed by PyTorch."""

    def __call__(self, arguments: dict[str, Any]) -> Any:
        if self.writes_only:
            arguments = {n: v.clone() if n == "self" else v for n, v in arguments.items()}
        refusal = None
        for positional, keywords in spellings(self, arguments):
            try:
                return torch_function(self)(*positional, **keywords)
            except TypeError as error:
                refusal = refusal or error
        raise RefusedError(refusal)


class RefusedError(Exception):
    """PyTorch does not have the signature, the dtype or the derivative."""


def unless_refused(function: Callable[..., Any], *arguments: Any) -> Any:
    """What PyTorch computes."""
    try:
        return function(*arguments)
    except (RuntimeError, NotImplementedError) as error:
        raise RefusedError(error) from error


def to_torch(value: Any) -> Any:
    if isinstance(value, wg.Tensor):
        return torch.from_numpy(value.detach().numpy().copy())
    if isinstance(value, (wg.dtype, wg.memory_format)):
        return getattr(torch, str(value).removeprefix("wengert."))
    return [to_torch(v) for v in value] if isinstance(value, list) else value
