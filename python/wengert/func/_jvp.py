"""`jvp`: tangents through a function, in one call of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import wengert
from wengert import _C
from wengert.autograd._forward_ad import dual_level, make_dual, unpack_dual
from wengert.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from ._arguments import flatten_alike, flatten_outputs, flatten_tensors, split_aux
from ._frames import Frame, levels_of, logical, map_physical, open_batches, physical

_CALL = "jvp(f, primals, tangents)"


class ForwardFrame(Frame):
    """A call of the user's function at a dual level of its own, which propagates wherever the call stands."""

    kind = "forward"

    def _open(self) -> Self:
        self.leave_inference_mode()
        self.level = self.enter(dual_level())
        if not _C._is_fwd_grad_enabled():  # outside; the levels there stay as they are
            self.enter(_C._Switch("forward_floor", self.level))
            self.enter(_C._Switch("_set_fwd_grad_enabled", True))
        return super()._open()

    def dual(self, primal: Any, tangent: Any) -> Any:
        """Return `primal` with a tangent, batched where one of the two is."""
        levels = levels_of(primal) | levels_of(tangent)
        batches = [frame for frame in open_batches() if frame.level in levels]
        value = physical(primal, batches)
        if any(size > 1 and step == 0 for size, step in zip(value.shape, value.stride(), strict=True)):
            value = value.contiguous()  # each element needs a tangent of its own
        dual = make_dual(value, physical(tangent, batches), level=self.level)
        return logical(dual, batches)

    def primal(self, tensor: Any) -> Any:
        """Return a tensor without its tangent of this level."""
        return map_physical(lambda t: unpack_dual(t, level=self.level).primal, tensor)

    def tangent(self, tensor: Any) -> Any:
        """Return the tangent of this level, or None."""
        found = True

        def unpacked(value: Any) -> Any:
            nonlocal found
            tangent = unpack_dual(value, level=self.level).tangent
            found = tangent is not None
            return tangent if found else value

        tangent = map_physical(unpacked, tensor)
        return tangent if found else None


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
        pushed = []
        for tensor in outputs:
            tangent = frame.tangent(tensor)
            if tangent is None:
                if strict:
                    raise RuntimeError(
                        f"{_CALL[:-1]}, strict=True): The output of f is independent of the inputs. This "
                        f"is not allowed "
                        "with strict=True."
                    )
                tangent = wengert.zeros_like(frame.primal(tensor))
            pushed.append(tangent)
        values = tree_unflatten([frame.primal(tensor) for tensor in outputs], out_spec)
        aux = tree_map_only(wengert.Tensor, frame.primal, aux)
    result = values, tree_unflatten(pushed, out_spec)
    return (*result, aux) if has_aux else result


def _checked(primals: Any, tangents: Any) -> tuple[list[Any], list[Any], Any]:
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_CALL}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    primals_spec = tree_flatten(primals)[1]
    if not primals_spec.num_leaves:
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
