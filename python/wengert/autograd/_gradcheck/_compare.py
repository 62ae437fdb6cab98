"""Holding numerical and analytical derivatives together: every element, or random projections (fast mode).

In fast mode one number is compared for each pair of output and input: ``v J u`` for random unit vectors u and v, by
one difference quotient and one backward (or forward) pass. If it fails, the slow comparison says where.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._analytical import jvp_columns, vjp_rows
from ._coordinates import basis, size
from ._errors import GradcheckError, mismatch_message
from ._inputs import floating_outputs
from ._numerical import directional_derivative, numerical_jacobians
from ._options import Case

SEED = 20240229


def compare(case: Case, forward: bool) -> None:
    """Raise GradcheckError where a derivative by one mode of autograd differs from finite differences."""
    (_compare_projections if case.options.fast_mode else _compare_elements)(case, forward)


def _compare_elements(case: Case, forward: bool) -> None:
    options, positions, targets = case.options, case.positions, case.targets
    shapes = case.outputs()
    numerical = [numerical_jacobians(case.function, case.inputs, p, options.eps, shapes) for p in positions]
    outputs = case.outputs()
    floating = floating_outputs(outputs)
    if forward:
        analytical = [
            jvp_columns(case, position, basis(target)) or [np.zeros((size(outputs[index]), 0)) for index in floating]
            for position, target in zip(positions, targets, strict=True)
        ]
    else:
        by_output = [vjp_rows(outputs[index], targets, basis(outputs[index]), options) for index in floating]
        analytical = [[row[j] for row in by_output] for j in range(len(targets))]
    for i, index in enumerate(floating):
        for j, position in enumerate(positions):
            for part, rows, columns in _parts(outputs[index], targets[j], forward):
                n, a = numerical[j][i][rows, columns], analytical[j][i][rows, columns]
                if not np.allclose(a, n, rtol=options.rtol, atol=options.atol):
                    raise GradcheckError(mismatch_message(n, a, index, position, part, forward))


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


def _compare_projections(case: Case, forward: bool) -> None:
    random = np.random.default_rng(SEED)
    options, positions, targets = case.options, case.positions, case.targets
    along = [_unit_vector(random, size(target)) for target in targets]
    numerical = [
        directional_derivative(case.function, case.inputs, position, u, options.eps)
        for position, u in zip(positions, along, strict=True)
    ]
    outputs = case.outputs()
    floating = floating_outputs(outputs)
    across = [_unit_vector(random, size(outputs[index])) for index in floating]
    if forward:
        columns = [jvp_columns(case, position, u[None]) for position, u in zip(positions, along, strict=True)]
        analytical = [[v @ column[:, 0] for v, column in zip(across, of_input, strict=True)] for of_input in columns]
    else:
        by_output = [
            vjp_rows(outputs[index], targets, v[None], options) for index, v in zip(floating, across, strict=True)
        ]
        analytical = [[rows[j][0] @ u for rows in by_output] for j, u in enumerate(along)]
    for i, index in enumerate(floating):
        for j, position in enumerate(positions):
            n, a = np.array(across[i] @ numerical[j][i]), np.array(analytical[j][i])
            # An error of atol in every element of J adds up to at most this.
            atol = options.atol * np.abs(across[i]).sum() * np.abs(along[j]).sum()
            if not np.allclose(a, n, rtol=options.rtol, atol=atol):
                _explain_by_elements(case, forward)
                message = mismatch_message(n.reshape(1, 1), a.reshape(1, 1), index, position, "", forward)
                raise GradcheckError(
                    message + "These are projections on random vectors, computed in fast mode; element by element the "
                    "two Jacobians agree within the tolerances (slow mode), but their differences add up."
                )


def _explain_by_elements(case: Case, forward: bool) -> None:
    try:
        _compare_elements(case, forward)
    except GradcheckError as error:
        raise GradcheckError(f"{error}(Found by random projections in fast mode, explained in slow mode.)") from None


def _unit_vector(random: np.random.Generator, length: int) -> np.ndarray:
    """Return a random vector of length 1 without negative entries, so that errors of one sign cannot cancel."""
    vector = random.uniform(0.1, 1.0, size=length)
    return vector / np.linalg.norm(vector) if length else vector
