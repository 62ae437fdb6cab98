"""Directional derivatives by central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert._progress_bars import track

from .._graph.versions import _unsafe_preserve_version_counter
from .._modes.context import Block
from ._coordinates import basis, coordinates, from_coordinates, size
from ._inputs import call, floating_outputs


def _move(block: Block, tensor: Any, vector: np.ndarray) -> None:
    """Give `tensor` the values with coordinates `vector` for the block, in place and unseen by autograd."""
    data = tensor.detach()  # shares the version counter
    block.enter(_unsafe_preserve_version_counter(tensor))  # graphs that saved it meet the same values again
    block.undo(data.copy_, data.clone())
    data.copy_(from_coordinates(vector, tensor))


def directional_derivative(
    function: Callable[..., Any], inputs: tuple[Any, ...], position: int, direction: np.ndarray, eps: float
) -> list[np.ndarray]:
    """Return the derivative of every floating output along `direction` in one input, central differences of `eps`.

    Direction and derivatives are vectors of real coordinates.
    """
    tensor = inputs[position]
    start = coordinates(tensor)
    sides = []
    for sign in (1, -1):
        with Block(_move, tensor, start + sign * eps * direction):
            outputs = call(function, inputs)
            # Outputs may be views of the input, so they are copied before it moves back.
            floating = [outputs[index] for index in floating_outputs(outputs)]
            sides.append([(output.shape, output.dtype, coordinates(output)) for output in floating])
    return [_difference(above, below, eps) for above, below in zip(*sides, strict=True)]


def _difference(above: tuple[Any, ...], below: tuple[Any, ...], eps: float) -> np.ndarray:
    for what, one, other in (("shape", above[0], below[0]), ("dtype", above[1], below[1])):
        if one != other:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed by {eps}, but got: "
                f"{what}s {one} and {other}."
            )
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and fails the comparison as it should
        quotient: np.ndarray = (above[2] - below[2]) / (2 * eps)
    return quotient


def numerical_jacobians(
    function: Callable[..., Any], inputs: tuple[Any, ...], position: int, eps: float, outputs: Sequence[Any]
) -> list[np.ndarray]:
    """Return the Jacobian of every floating output with respect to one input, shape ``(size(output), size(input))``."""
    columns = [
        directional_derivative(function, inputs, position, direction, eps)
        for direction in track(basis(inputs[position]), f"gradcheck, input {position}")
    ]
    if not columns:
        return [np.zeros((size(outputs[index]), 0)) for index in floating_outputs(tuple(outputs))]
    return [np.stack(column, axis=1) for column in zip(*columns, strict=True)]
