"""What the transforms share: the arguments to differentiate, and the checks of what functions return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor
from wengert.utils._pytree import SUPPORTED_NODES, NodeDef, TreeSpec, tree_flatten, tree_unflatten

Argnums = int | tuple[int, ...]


def normalized_argnums(argnums: Any, num_args: int) -> Argnums:
    """Return `argnums` counted from the front."""
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
    if isinstance(argnums, int):
        return (*args[:argnums], values, *args[argnums + 1 :])
    new = dict(zip(argnums, values, strict=True))
    return tuple(new.get(argnum, value) for argnum, value in enumerate(args))


def partial(
    func: Callable[..., Any], argnums: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[Any], TreeSpec]:
    """Return `func` as a function of the leaves of what `argnums` names, these leaves, and the shape of their tree."""
    indices = normalized_argnums(argnums, len(args))
    primals, spec = flatten_tensors(selected(args, indices), isinstance(indices, tuple))
    return lambda *leaves: func(*replaced(args, indices, tree_unflatten(leaves, spec)), **kwargs), primals, spec


class _Constant:
    """A leaf that takes no part: it belongs to the shape of its tree, and comes back where it was."""

    def __init__(self, value: Any) -> None:
        self.value = value


SUPPORTED_NODES[_Constant] = NodeDef(lambda constant: ([], constant.value), lambda _, value: value)


def as_leaf(value: Any, like: Any = None) -> Any:
    """Return a number or array as a tensor, of the dtype of `like`; other things as they are.

    Integers are no variables: only a whole argument may be one, for the real number that it is.
    """
    if isinstance(value, (float, complex)) or (
        isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"
    ):
        return wengert.tensor(value, dtype=None if like is None else like.dtype)
    if like is not None and isinstance(value, (int, np.ndarray, np.generic)):
        return wengert.tensor(value, dtype=like.dtype)
    return value


def flatten_tensors(tree: Any, several: bool = False) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree of inputs and its shape; numbers and arrays as tensors.

    What cannot be differentiated (strings, None, functions, integers) is part of the shape. The tree is an argument, or
    a tuple of `several`.
    """
    leaves, spec = tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            break
    else:
        return leaves, spec
    if several:
        tree = tuple(map(_real, tree))
        leaves = tree_flatten(tree)[0]
    elif spec.is_leaf():
        leaves = [_real(tree)]
    values = [as_leaf(leaf) for leaf in leaves]
    marked = [value if isinstance(value, Tensor) else _Constant(value) for value in values]
    tensors, marked_spec = tree_flatten(tree_unflatten(marked, spec))
    if not tensors:
        raise ValueError(
            f"Thing passed to transform API must be Tensor, got {type(leaf)}; pass tensors, real numbers or arrays, or "
            "leave the argument out of argnums"
        )
    return tensors, marked_spec


def _real(value: Any) -> Any:
    return float(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else value


def flatten_alike(tree: Any, given: Any, tensors: list[Any]) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree where another one has the leaves `tensors`, and its shape; numbers become alike."""
    leaves, spec = tree_flatten(tree)
    if len(leaves) == len(tensors) and all(isinstance(leaf, Tensor) for leaf in leaves):
        return leaves, spec
    others = tree_flatten(given)[0]
    if len(others) != len(leaves) or len(tensors) in (0, len(leaves)):
        chosen = leaves
    else:
        pairs = zip(leaves, others, strict=True)
        chosen = [leaf for leaf, other in pairs if isinstance(as_leaf(other), Tensor)]  # no integers: those are few
    if len(chosen) != len(tensors):
        return chosen, spec
    return [as_leaf(leaf, tensor) for leaf, tensor in zip(chosen, tensors, strict=True)], spec


def split_aux(output: Any, caller: str, has_aux: bool) -> tuple[Any, Any]:
    """Return ``(output, aux)`` of a function that returns both, or the output and None."""
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{caller}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def flatten_outputs(output: Any, caller: str) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of what a function returned and its shape."""
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
                f"{caller}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{index}; differentiate with respect to wengert.view_as_real of it"
            )
