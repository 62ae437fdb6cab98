"""Tensors or tuples of tensors, in and out."""

from __future__ import annotations

from typing import Any

from wengert._C import Tensor

from .. import _function

Tensors = tuple[Any, ...]


def as_tensors(value: Any, what: str, caller: str) -> tuple[Tensors, bool]:
    """Return a tensor or tuple of tensors as a tuple, and whether it was one.

    Raises
    ------
    TypeError
        If it is or holds anything else.
    RuntimeError
        If inputs are those of a call inside a transform of `wengert.func`.
    """
    if what == "inputs":
        _refuse_transforms(caller)
    was_tuple = isinstance(value, tuple)
    values = value if was_tuple else (value,)
    for index, item in enumerate(values):
        if not isinstance(item, Tensor):
            where = f"value at index {index}" if was_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {where} has type "
                f"{type(item)}."
            )
    return values, was_tuple


def _refuse_transforms(caller: str) -> None:
    if _function.are_transforming():
        raise RuntimeError(
            f"[{caller}] wengert.autograd.functional cannot be used inside of a function being transformed by "
            "wengert.func (vmap, grad, jvp, ...): its results are constants there. Use wengert.func.jacrev, vjp or "
            "jvp, which nest."
        )


def call(function: Any, inputs: Tensors, caller: str) -> tuple[Tensors, bool]:
    """Return the outputs of the user's function, checked."""
    return as_tensors(function(*inputs), "outputs of the user-provided function", caller)


def prepare(inputs: Tensors, create_graph: bool) -> Tensors:
    """Return tensors of the same values that require grad, connected to the caller's graph if results will be."""
    return tuple(
        value.view_as(value) if create_graph and value.requires_grad else value.detach().requires_grad_()
        for value in inputs
    )


def finish(results: Any, create_graph: bool) -> Any:
    """Detach a tensor, or nested tuples of them, unless the caller keeps the graph."""
    if create_graph:
        return results
    if isinstance(results, tuple):
        return tuple(finish(result, create_graph) for result in results)
    return results.detach()


def unwrap(results: Tensors, was_tuple: bool) -> Any:
    """Return a tuple, or its only member."""
    return results if was_tuple else results[0]


def check_vector(v: Any, like: Tensors, was_tuple: bool, caller: str, create_graph: bool) -> Tensors:
    """Return the user's vector, of the same structure and sizes as `like`.

    Raises
    ------
    RuntimeError
        If a length or size differs.
    """
    values, _ = as_tensors(v, "v", caller)
    if len(values) != len(like):
        if was_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(values)}.")
        raise RuntimeError(f"The given v should contain a single Tensor, but has {len(values)}.")
    for index, (value, other) in enumerate(zip(values, like, strict=True)):
        if value.shape != other.shape:
            entry = f"Entry {index} in " if len(like) > 1 else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {other.shape} but got {value.shape}.")
    return values if create_graph else tuple(value.detach() for value in values)
