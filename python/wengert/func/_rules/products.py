"""Products of matrices."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import wengert
from wengert._C import Tensor

from .._batch import Batch, NoRuleError
from .._operations import Operation, operations, rebuilt
from ._registry import HANDLERS, rule


def _product(a: Any, b: Any, batch: Batch, multiply: Callable[[Any, Any], Any] = Tensor.matmul) -> Any:
    """``a @ b`` of samples: vectors become matrices, the batch comes in front, the other dimensions broadcast."""
    if not a.ndim or not b.ndim:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    row, column = a.ndim == 1, b.ndim == 1
    if not batch.has(b) and b.ndim <= 2 and not row:
        return batch.wrap(multiply(batch.front(a), b))  # one matrix for all: a larger product instead of many
    if not batch.has(a) and a.ndim == 2 and column:
        return batch.wrap(multiply(batch.front(b), a.transpose(0, 1)))
    a = a.unsqueeze(-2) if row else a
    b = b.unsqueeze(-1) if column else b
    rank = max(a.ndim, b.ndim)
    result = multiply(batch.aligned(a, rank), batch.aligned(b, rank))
    if row:
        result = result.squeeze(-2)
    if column:
        result = result.squeeze(-1)
    return batch.wrap(result)


@rule
def matmul(op: Operation, values: dict[str, Any], batch: Batch, numbers: tuple[int, ...] = ()) -> Any:
    """Matrix products, of all ranks, or of the two that the numbers say."""
    first, second = (values[a.name] for a in op.tensors)
    if numbers and (first.ndim, second.ndim) != tuple(numbers):
        raise NoRuleError  # one sample says what is wrong
    return _product(first, second, batch)


@rule
def matmul_of_any_rank(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """The operation itself, which is a product of operands of all ranks."""
    first, second = (values[a.name] for a in op.tensors)
    return _product(first, second, batch, op.function)


def _positional(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batch: Batch) -> Any:
    if kwargs:
        values = operations()["matmul"].bind(args, kwargs) or {}
        args = values["self"], values["other"]
    first, second = args
    return _product(first, second, batch)


HANDLERS[Tensor.__matmul__] = HANDLERS[Tensor.matmul] = HANDLERS[wengert.matmul] = _positional
HANDLERS[Tensor.__rmatmul__] = lambda func, args, kwargs, batch: _product(args[1], args[0], batch)


@rule
def affine_map(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """``input @ weight.T + bias``."""
    weight, bias = values["weight"], values.get("bias")
    if not batch.has(weight) and not batch.has(bias):
        return batch.wrap(op.call({**values, "input": batch.front(values["input"])}))
    product = values["input"].matmul(weight.transpose(-2, -1) if weight.ndim > 1 else weight)
    return product if bias is None else product + bias


@rule
def einstein(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """One more letter, in front of every batched term and of the result."""
    equation, tensors = values["equation"].replace(" ", ""), values["operands"]
    letter = next(c for c in string.ascii_letters if c not in equation)
    inputs, arrow, output = equation.partition("->")
    if not arrow:
        letters = sorted(c for c in set(inputs) - set(",.") if inputs.count(c) == 1)
        output = ("..." if "..." in inputs else "") + "".join(letters)
    terms = [letter + t if batch.has(x) else t for t, x in zip(inputs.split(","), tensors, strict=True)]
    return batch.wrap(wengert.einsum(",".join(terms) + "->" + letter + output, [batch.front(t) for t in tensors]))


@rule
def contraction(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """tensordot: letters for all dimensions, the same for those that are summed."""
    a, b = values["a"], values["b"]
    if "dims" in values or "dims" in op.by_name:
        count = op.get(values, "dims")
        along_a, along_b = list(range(a.ndim - count, a.ndim)), list(range(count))
    else:
        along_a, along_b = ([d % t.ndim for d in values[n]] for t, n in ((a, "dims_a"), (b, "dims_b")))
    if a.ndim + b.ndim > 50:
        raise NoRuleError
    first = list(string.ascii_letters[: a.ndim])
    second = list(string.ascii_letters[a.ndim : a.ndim + b.ndim])
    for i, j in zip(along_a, along_b, strict=True):
        second[j] = first[i]
    kept = [c for i, c in enumerate(first) if i not in along_a] + [c for j, c in enumerate(second) if j not in along_b]
    return operations()["einsum"](f"{''.join(first)},{''.join(second)}->{''.join(kept)}", [a, b])


@rule
def chain(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """A product of several matrices, from left to right."""
    result, *others = values["tensors"]
    for other in others:
        result = result.matmul(other)
    return result


@rule
def least_squares(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """``A X = B`` as well as can be: B is a vector where it has one dimension less than A."""
    a, b = values["A"], values["B"]
    vector = b.ndim == a.ndim - 1
    b = b.unsqueeze(-1) if vector else b
    rank = max(a.ndim, b.ndim)
    found = batch.wrap_given(op.call({**values, "A": batch.expanded_to(a, rank), "B": batch.expanded_to(b, rank)}))
    solution, *others = found
    return rebuilt(found, [solution.squeeze(-1) if vector else solution, *others])


@rule
def system(op: Operation, values: dict[str, Any], batch: Batch) -> Any:
    """``A X = B``: B is a vector where it has one dimension less than A."""
    a, b, left = values["A"], values["B"], op.get(values, "left")
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    if vector:
        if not left:
            raise NoRuleError
        b = b.unsqueeze(-1)
    rank = max(a.ndim, b.ndim)
    options = {n: values[n] for n in ("check_errors",) if n in values}
    results = op.function(batch.expanded_to(a, rank), batch.expanded_to(b, rank), left=left, **options)
    if isinstance(results, Tensor):
        solution = batch.wrap(results)
        return solution.squeeze(-1) if vector else solution
    solution, *rest = (batch.wrap(r) for r in results)
    return rebuilt(results, [solution.squeeze(-1) if vector else solution, *rest])
