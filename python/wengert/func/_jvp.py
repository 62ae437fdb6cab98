"""`jvp`: tangents through a function, in one call of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert
from wengert.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from ._arguments import flatten_alike, flatten_outputs, flatten_tensors, split_aux
from ._frames import ForwardFrame

_CALL = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """Return the outputs of `func` and the product of its Jacobian with `tangents`, by forward mode.

    Parameters
    ----------
    func : callable
        From trees of tensors to a tree of tensors.
    primals, tangents : tuple
        The arguments, and a tangent for each tensor in them.
    strict : bool, default False
        Whether it is an error if an output does not depend on the primals.
    has_aux : bool, default False
        Whether `func` returns ``(output, aux)``.

    Returns
    -------
    output, tangent[, aux]

    Raises
    ------
    RuntimeError
        If primals and tangents do not match, outputs are no tensors, or strict mode finds independence.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.jvp(wg.sin, (wg.tensor([0.0, 1.0]),), (wg.ones(2),))
    (tensor([0.0000, 0.8415]), tensor([1.0000, 0.5403]))
    """
    leaves, directions, spec = _checked(primals, tangents)
    with ForwardFrame() as frame:
        duals = [frame.dual(leaf, direction) for leaf, direction in zip(leaves, directions, strict=True)]
        output, aux = split_aux(func(*tree_unflatten(duals, spec)), _CALL, has_aux)
        outputs, out_spec = flatten_outputs(output, _CALL)
        values, pushed = [], []
        for tensor in outputs:
            value, tangent = frame.unpacked(tensor)
            if tangent is None:
                if strict:
                    raise RuntimeError(
                        f"{_CALL[:-1]}, strict=True): The output of f is independent of the inputs. This is not "
                        "allowed with strict=True."
                    )
                tangent = wengert.zeros_like(value)
            values.append(value)
            pushed.append(tangent)
        if has_aux:
            aux = tree_map_only(wengert.Tensor, frame.primal, aux)
    result = tree_unflatten(values, out_spec), tree_unflatten(pushed, out_spec)
    return (*result, aux) if has_aux else result


def _checked(primals: Any, tangents: Any) -> tuple[list[Any], list[Any], Any]:
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_CALL}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    given, primals_spec = tree_flatten(primals)
    if not given:
        raise RuntimeError(f"{_CALL}: Expected primals to contain at least one Tensor.")
    leaves, spec = flatten_tensors(primals, several=True)
    directions, tangents_spec = flatten_alike(tangents, primals, leaves)
    if primals_spec != tangents_spec:
        raise RuntimeError(
            f"{_CALL}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {primals_spec} and tangents with "
            f"structure {tangents_spec}"
        )
    for value in directions:
        if not isinstance(value, wengert.Tensor):
            raise RuntimeError(f"{_CALL}: Expected tangents to only contain Tensors, got {type(value)}")
    return leaves, directions, spec
