"""Jacobians as tensors, by functions that others still call; `gradcheck` does not use them.

Rows belong to input elements and columns to output elements here, the transpose of what messages show.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert._C import Tensor

from .._backward.entry import grad
from ._coordinates import basis, from_coordinates, gradient_coordinates
from ._inputs import as_tuple
from ._numerical import numerical_jacobians


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> Any:
    """Return the Jacobians of the first output of ``fn(inputs)`` with respect to each target that requires grad.

    Deprecated: use `gradcheck`, or `wengert.autograd.functional.jacobian`.

    Raises
    ------
    ValueError
        If `grad_out` is not 1 or the output is complex.
    """
    _deprecated("get_numerical_jacobian", grad_out)
    inputs = as_tuple(inputs)
    wanted = inputs if target is None else as_tuple(target)

    def function(*values: Any) -> Any:
        return as_tuple(fn(values))[0]

    outputs = (function(*inputs),)
    _require_real("get_numerical_jacobian", outputs[0])
    return tuple(
        _as_tensor(numerical_jacobians(function, inputs, index, eps, outputs)[0], value)
        for index, value in enumerate(inputs)
        if isinstance(value, Tensor) and value.requires_grad and any(value is other for other in wanted)
    )


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any], input_idx: int, inputs: Any, outputs: Any, eps: float, **ignored: Any
) -> tuple[Any, ...]:
    """Return the Jacobian of each output of ``fn(*inputs)`` with respect to one input."""
    inputs = as_tuple(inputs)
    jacobians = numerical_jacobians(fn, inputs, input_idx, eps, as_tuple(outputs))
    return tuple(_as_tensor(jacobian, inputs[input_idx]) for jacobian in jacobians)


def get_analytical_jacobian(
    inputs: Any, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[Any, bool, bool, bool]:
    """Return ``(jacobians, deterministic, sizes_right, dtypes_right)`` of one output by reverse mode.

    Deprecated: use `gradcheck`, or `wengert.autograd.functional.jacobian`.

    Raises
    ------
    ValueError
        If `grad_out` is not 1 or the output is complex.
    """
    _deprecated("get_analytical_jacobian", grad_out)
    _require_real("get_analytical_jacobian", output)
    targets = [value for value in as_tuple(inputs) if isinstance(value, Tensor) and value.requires_grad]
    sizes_right = dtypes_right = True
    runs = []
    for _ in range(2):
        rows = []
        for vector in basis(output):
            cotangent = from_coordinates(vector, output)
            gradients = grad(output, targets, cotangent, retain_graph=True, allow_unused=True)
            for gradient, target in zip(gradients, targets, strict=True):
                sizes_right &= gradient is None or gradient.shape == target.shape
                dtypes_right &= gradient is None or gradient.dtype == target.dtype
            rows.append([gradient_coordinates(*pair) for pair in zip(gradients, targets, strict=True)])
        runs.append([np.stack(column) for column in zip(*rows, strict=True)])
    deterministic = all(np.allclose(a, b, rtol=0.0, atol=nondet_tol) for a, b in zip(*runs, strict=True))
    jacobians = tuple(_as_tensor(jacobian, target) for jacobian, target in zip(runs[0], targets, strict=True))
    return jacobians, deterministic, sizes_right, dtypes_right


def _as_tensor(jacobian: np.ndarray, target: Any) -> Any:
    """Return the transpose as a tensor of the target's dtype."""
    transposed = jacobian.T
    if target.is_complex():
        half = len(transposed) // 2
        transposed = transposed[:half] + 1j * transposed[half:]
    return wengert.from_numpy(np.array(transposed)).to(dtype=target.dtype)


def _deprecated(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and is deprecated. Use wengert.autograd.gradcheck or "
        "wengert.autograd.functional.jacobian.",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1.0:
        raise ValueError(
            f"Expected grad_out to be 1.0, but got {grad_out}. {name} no longer supports values of grad_out != 1.0."
        )


def _require_real(name: str, output: Any) -> None:
    if output.is_complex():
        raise ValueError(
            f"Expected output to be non-complex. {name} no longer supports functions that return complex outputs."
        )
