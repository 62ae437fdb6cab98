"""The derivatives that autograd computes, as vectors and Jacobians in real coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._backward.entry import grad
from .._forward_ad import dual_level, make_dual, unpack_dual
from ._coordinates import from_coordinates, gradient_coordinates, size
from ._errors import GradcheckError
from ._inputs import call, floating_outputs
from ._options import Case, Options


def vjp_rows(output: Any, targets: list[Any], cotangents: np.ndarray, options: Options) -> list[np.ndarray]:
    """Return the products of cotangents with the Jacobians of one output: for each target an array with a row for each.

    Cotangents [k, size(output)] and products [k, size(target)] are in real coordinates. Every product is computed
    twice, to see whether backward is deterministic.
    """
    if not output.requires_grad:
        return [np.zeros((len(cotangents), size(target))) for target in targets]
    rows: list[list[np.ndarray]] = [[] for _ in targets]
    worst = 0.0
    for vector in cotangents:
        runs = []
        for _ in range(2):
            cotangent = from_coordinates(vector, output)
            gradients = grad((output,), targets, (cotangent,), retain_graph=True, allow_unused=True)
            for gradient, target in zip(gradients, targets, strict=True):
                _check_attributes(gradient, target, options.check_grad_dtypes)
            runs.append([gradient_coordinates(*pair) for pair in zip(gradients, targets, strict=True)])
        for index, (first, second) in enumerate(zip(*runs, strict=True)):
            rows[index].append(first)
            changed = ~np.isclose(first, second, rtol=0.0, atol=options.nondet_tol, equal_nan=True)
            if changed.any():
                worst = max(worst, np.abs(first - second)[changed].max())
    if worst > options.nondet_tol:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            f"different values: the greatest difference is {worst}, and the tolerance for nondeterminism was "
            f"{options.nondet_tol}. If this is expected, pass a larger nondet_tol."
        )
    return [np.array(row).reshape(len(cotangents), size(target)) for row, target in zip(rows, targets, strict=True)]


def _check_attributes(gradient: Any, target: Any, check_grad_dtypes: bool) -> None:
    if gradient is None:
        return
    if gradient.shape != target.shape:
        raise GradcheckError(
            f"Analytical gradient has incorrect size: {tuple(gradient.shape)} for an input of {tuple(target.shape)}"
        )
    if check_grad_dtypes and gradient.dtype != target.dtype:
        raise GradcheckError(f"Gradient has dtype mismatch: {gradient.dtype} for an input of {target.dtype}")


def jvp_columns(case: Case, position: int, tangents: np.ndarray) -> list[np.ndarray]:
    """Return the products of Jacobians with respect to one input with tangents [k, size(input)], in real coordinates.

    All inputs that are checked are dual, with zero tangents but for the one. Each floating output gives [size, k].
    """
    columns = []
    for vector in tangents:
        chosen = {index: np.zeros(size(case.inputs[index])) for index in case.positions}
        chosen[position] = vector
        pairs = jvp(case.function, case.inputs, chosen)
        for primal, tangent in pairs:
            if case.options.check_grad_dtypes and tangent is not None and tangent.dtype != primal.dtype:
                raise GradcheckError(
                    f"Forward AD gradient has dtype mismatch: {tangent.dtype} for an output of {primal.dtype}"
                )
        columns.append([gradient_coordinates(tangent, primal) for primal, tangent in pairs])
    return [np.stack(column, axis=1) for column in zip(*columns, strict=True)]


def jvp(function: Callable[..., Any], inputs: tuple[Any, ...], tangents: dict[int, Any]) -> list[Any]:
    """Return ``(primal, tangent or None)`` of every floating output.

    Tangents are tensors, or arrays of coordinates; inputs not among them have none.
    """
    with dual_level():
        duals = []
        for index, value in enumerate(inputs):
            value = value.detach() if hasattr(value, "detach") else value
            if index in tangents:
                tangent = tangents[index]
                tangent = from_coordinates(tangent, value) if isinstance(tangent, np.ndarray) else tangent
                value = make_dual(value, tangent)
            duals.append(value)
        outputs = call(function, tuple(duals))
        return [tuple(unpack_dual(outputs[index])) for index in floating_outputs(outputs)]
