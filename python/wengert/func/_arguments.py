"""What the transforms share: the arguments to differentiate, and the checks of what functions return."""

from __future__ import annotations

from typing import Any

from wengert._C import Tensor
from wengert.utils._pytree import TreeSpec, tree_flatten

Argnums = int | tuple[int, ...]


def normalized_argnums(argnums: Any, num_args: int) -> Argnums:
    """Return `argnums` counted from the front.

    Raises
    ------
    RuntimeError
        If it is neither int nor tuple of ints, out of range, empty, or names an argument twice.
    """
    if isinstance(argnums, int):
        return _normalized(argnums, num_args)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    result = tuple(_normalized(argnum, num_args) for argnum in argnums)
    if len(set(result)) != len(result):
        raise RuntimeError(f"argnums elements must be unique, got {result}")
    return result


def _normalized(argnum: Any, num_args: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -num_args <= argnum < num_args:
        raise RuntimeError(f"Got argnum={argnum}, but only {num_args} positional inputs")
    return argnum % num_args


def selected(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """Return the arguments that `argnums` names: one, or a tuple."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[argnum] for argnum in argnums)


def replaced(args: tuple[Any, ...], argnums: Argnums, values: Any) -> tuple[Any, ...]:
    """Return `args` with other values for those that `argnums` names."""
    pairs = ((argnums, values),) if isinstance(argnums, int) else zip(argnums, values, strict=True)
    changed = list(args)
    for argnum, value in pairs:
        changed[argnum] = value
    return tuple(changed)


def flatten_tensors(tree: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree of inputs and its shape.

    Raises
    ------
    ValueError
        If a leaf is no tensor.
    """
    leaves, spec = tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"Thing passed to transform API must be Tensor, got {type(leaf)}; convert it with wengert.tensor, or "
                "leave the argument out of argnums"
            )
    return leaves, spec


def split_aux(output: Any, caller: str, has_aux: bool) -> tuple[Any, Any]:
    """Return ``(output, aux)`` of a function that returns both, or the output and None.

    Raises
    ------
    RuntimeError
        If `has_aux` and the function returned no pair.
    """
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{caller}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def flatten_outputs(output: Any, caller: str) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of what a function returned and its shape.

    Raises
    ------
    RuntimeError
        If a leaf is no tensor, or there is none.
    """
    leaves, spec = tree_flatten(output)
    if output is None or not leaves:
        raise RuntimeError(
            f"{caller}: Expected f to be a function that has non-empty output (got output = {output}); return the "
            "tensors to differentiate"
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{caller}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
            )
    return leaves, spec


def check_real(tensors: list[Any], caller: str, what: str) -> None:
    """Raise RuntimeError if one of `tensors` is complex."""
    for index, tensor in enumerate(tensors):
        if tensor.is_complex():
            raise RuntimeError(
                f"{caller}: Expected all {what} to be real but received complex tensor at flattened input "
                f"idx: {index}; "
                "differentiate with respect to wengert.view_as_real of it"
            )
