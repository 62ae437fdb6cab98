"""Holding numerical and analytical derivatives together: every element, or random projections (fast mode).

In fast mode one number is compared for each pair of output and input: ``v J u`` for random unit vectors u and v, by
one difference quotient and one backward (or forward) pass. If it fails, the slow comparison says where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._analytical import analytical_jacobians, jvp_columns, vjp_rows
from ._coordinates import basis, size
from ._errors import GradcheckError, mismatch_message
from ._inputs import call, floating_outputs
from ._numerical import directional_derivative, numerical_jacobians
from ._options import Options

SEED = 20240229


def compare(
    function: Callable[..., Any], inputs: tuple[Any, ...], positions: list[int], options: Options, forward: bool
) -> None:
    """Raise GradcheckError where a derivative by one mode of autograd differs from finite differences."""
    compare_all = _compare_projections if options.fast_mode else _compare_elements
    compare_all(function, inputs, positions, options, forward)


def _compare_elements(
    function: Callable[..., Any], inputs: tuple[Any, ...], positions: list[int], options: Options, forward: bool
) -> None:
    targets = [inputs[position] for position in positions]
    shapes = call(function, inputs)
    numerical = [numerical_jacobians(function, inputs, position, options.eps, shapes) for position in positions]
    outputs = call(function, inputs)
    floating = floating_outputs(outputs)
    if forward:
        analytical = [
            jvp_columns(function, inputs, positions, position, basis(target), options.check_grad_dtypes)
            or [np.zeros((size(outputs[index]), 0)) for index in floating]
            for position, target in zip(positions, targets, strict=True)
        ]
    else:
        by_output = [_reverse_jacobians(outputs[index], targets, options) for index in floating]
        analytical = [[row[j] for row in by_output] for j in range(len(targets))]
    for i, index in enumerate(floating):
        for j, position in enumerate(positions):
            for part, rows, columns in _parts(outputs[index], targets[j], forward):
                n, a = numerical[j][i][rows, columns], analytical[j][i][rows, columns]
                if not np.allclose(a, n, rtol=options.rtol, atol=options.atol):
                    raise GradcheckError(mismatch_message(n, a, index, position, part, forward))


def _reverse_jacobians(output: Any, targets: list[Any], options: Options) -> list[np.ndarray]:
    if not output.requires_grad:
        return [np.zeros((size(output), size(target))) for target in targets]
    return analytical_jacobians(output, targets, options.nondet_tol, options.check_grad_dtypes)


def _parts(output: Any, target: Any, forward: bool) -> list[tuple[str, slice, slice]]:
    """Return the blocks of a Jacobian that one cotangent (reverse) or tangent (forward) of 1 or 1j decides."""
    tensor, name = (target, "inputs") if forward else (output, "outputs")
    everything = slice(None)
    if not tensor.is_complex():
        return [("", everything, everything)]
    half = tensor.numel()
    blocks = [
        (f"imaginary part of complex {name}", slice(half, None)),
        (f"real part of complex {name}", slice(0, half)),
    ]
    return [(part, everything, block) if forward else (part, block, everything) for part, block in blocks]


def _compare_projections(
    function: Callable[..., Any], inputs: tuple[Any, ...], positions: list[int], options: Options, forward: bool
) -> None:
    random = np.random.default_rng(SEED)
    targets = [inputs[position] for position in positions]
    along = [_unit_vector(random, size(target)) for target in targets]
    numerical = [
        directional_derivative(function, inputs, position, u, options.eps)
        for position, u in zip(positions, along, strict=True)
    ]
    outputs = call(function, inputs)
    floating = floating_outputs(outputs)
    across = [_unit_vector(random, size(outputs[index])) for index in floating]
    if forward:
        columns = [
            jvp_columns(function, inputs, positions, position, u[None], options.check_grad_dtypes)
            for position, u in zip(positions, along, strict=True)
        ]
        analytical = [[v @ column[:, 0] for v, column in zip(across, of_input, strict=True)] for of_input in columns]
    else:
        analytical = [[] for _ in targets]
        for index, v in zip(floating, across, strict=True):
            rows = _reverse_products(outputs[index], targets, v, options)
            for j, row in enumerate(rows):
                analytical[j].append(row @ along[j])
    for i, index in enumerate(floating):
        for j, position in enumerate(positions):
            n, a = np.array(across[i] @ numerical[j][i]), np.array(analytical[j][i])
            # An error of atol in every element of J adds up to at most this.
            atol = options.atol * np.abs(across[i]).sum() * np.abs(along[j]).sum()
            if not np.allclose(a, n, rtol=options.rtol, atol=atol):
                _explain_by_elements(function, inputs, positions, options, forward)
                message = mismatch_message(n.reshape(1, 1), a.reshape(1, 1), index, position, "", forward)
                raise GradcheckError(
                    message + "These are projections on random vectors, computed in fast mode; element by element the "
                    "two Jacobians agree within the tolerances (slow mode), but their differences add up."
                )


def _reverse_products(output: Any, targets: list[Any], v: np.ndarray, options: Options) -> list[np.ndarray]:
    if not output.requires_grad:
        return [np.zeros(size(target)) for target in targets]
    rows = vjp_rows(output, targets, v[None], options.nondet_tol, options.check_grad_dtypes)
    return [row[0] for row in rows]


def _explain_by_elements(
    function: Callable[..., Any], inputs: tuple[Any, ...], positions: list[int], options: Options, forward: bool
) -> None:
    try:
        _compare_elements(function, inputs, positions, options, forward)
    except GradcheckError as error:
        raise GradcheckError(f"{error}(Found by random projections in fast mode, explained in slow mode.)") from None


def _unit_vector(random: np.random.Generator, length: int) -> np.ndarray:
    """Return a random vector of length 1 without negative entries, so that errors of one sign cannot cancel."""
    vector = random.uniform(0.1, 1.0, size=length)
    return vector / np.linalg.norm(vector) if length else vector
