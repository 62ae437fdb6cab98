"""The start of a backward pass: the roots, and one checked cotangent for each.

The engine itself rejects a root that does not require grad, so such roots pass through here unexamined.
"""

from __future__ import annotations

from typing import Any

import wengert
from wengert._C import Tensor

from ._edges import GradientEdge
from ._engine import implicit_gradient


def as_roots(tensors: Any) -> tuple[Any, ...]:
    """Return one tensor or edge, or a sequence of them, as a tuple."""
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def root_gradients(roots: tuple[Any, ...], gradients: Any, batched: bool = False) -> tuple[Any, ...]:
    """Return the cotangent of each root: the user's, checked, or an implicit one."""
    if gradients is None:
        given: tuple[Any, ...] = (None,) * len(roots)
    elif isinstance(gradients, Tensor):
        given = (gradients,)
    else:
        given = tuple(gradients)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients; give one gradient (or None) a tensor")
    return tuple(_root_gradient(index, *pair, batched) for index, pair in enumerate(zip(roots, given, strict=True)))


def _root_gradient(index: int, root: Any, gradient: Any, batched: bool) -> Any:
    if gradient is None:
        return _implicit_gradient(index, root)
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__} at index {index}; "
            "convert it with wengert.as_tensor"
        )
    _check_gradient(index, root, gradient, batched)
    return gradient


def _implicit_gradient(index: int, root: Any) -> Any:
    if isinstance(root, Tensor):
        if not root.requires_grad:
            return None
        gradient = implicit_gradient(root)
        if gradient is not None:
            return gradient
    metadata = _metadata(root)
    if _numel(metadata.shape) != 1:
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs, but output {index} has shape "
            f"{tuple(metadata.shape)}; reduce it, for example with sum(), or pass its gradient"
        )
    if not metadata.dtype.is_floating_point:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {metadata.dtype}; "
            f"pass the gradient of output {index}, or differentiate its real part"
        )
    return wengert.ones(metadata.shape, dtype=metadata.dtype, device=metadata.device)


def _check_gradient(index: int, root: Any, gradient: Any, batched: bool) -> None:
    metadata = _metadata(root)
    expected = tuple(metadata.shape)
    got = tuple(gradient.shape)[1:] if batched else tuple(gradient.shape)
    if got != expected or (batched and gradient.dim() == 0):
        found = (
            f"grad_output[{index}] has a shape of {tuple(gradient.shape)} and output[{index}] has a shape of {expected}"
        )
        if batched:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                f"dimension, and the others must match the output, but {found}."
            )
        raise RuntimeError(f"Mismatch in shape: {found}. Broadcast or reshape the gradient to the output's shape.")
    if gradient.dtype.is_complex != metadata.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {gradient.dtype} and output[{index}] has a dtype of {metadata.dtype}."
        )


def _metadata(root: Any) -> Any:
    """Return what knows the shape, dtype and device of a root: the tensor itself, or its node's record."""
    if not isinstance(root, GradientEdge):
        return root
    outputs = root.node._input_metadata
    if not 0 <= root.output_nr < len(outputs):
        raise RuntimeError(
            f"GradientEdge: {root.node.name()} has {len(outputs)} outputs; "
            f"there is none with output_nr {root.output_nr}"
        )
    return outputs[root.output_nr]


def _numel(shape: Any) -> int:
    count = 1
    for length in shape:
        count *= length
    return count
