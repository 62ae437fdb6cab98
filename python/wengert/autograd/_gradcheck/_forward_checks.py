"""Faults of forward mode that its Jacobian does not show."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert

from .._batching import vmap
from ._analytical import jvp
from ._coordinates import from_coordinates, gradient_coordinates, size
from ._errors import GradcheckError
from ._options import Case
from ._reverse_checks import compare_batches

BATCH = 2


def check_undefined_tangents(case: Case) -> None:
    """Check that an input without tangent gives what a tangent of zeros gives."""
    random = np.random.default_rng(0)
    function, inputs = case.function, case.inputs
    for position in case.positions:
        others = {index: random.standard_normal(size(inputs[index])) for index in case.positions if index != position}
        with_zeros = jvp(function, inputs, {**others, position: np.zeros(size(inputs[position]))})
        without = jvp(function, inputs, others)
        for index, ((primal, expected), (_, got)) in enumerate(zip(with_zeros, without, strict=True)):
            expected_values = gradient_coordinates(expected, primal)
            got_values = gradient_coordinates(got, primal)
            if not np.allclose(got_values, expected_values, equal_nan=True):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {index} when input {position} has an "
                    f"undefined tangent value. Got: {got_values} but expected: {expected_values}"
                )


def check_batched_tangents(case: Case) -> None:
    """Check that a batch of tangents gives what one call a sample gives."""
    random = np.random.default_rng(0)
    function, inputs = case.function, case.inputs
    for position in case.positions:
        target = inputs[position]
        vectors = random.standard_normal((BATCH, size(target)))

        def pushforward(tangent: Any, position: int = position) -> tuple[Any, ...]:
            return tuple(tangent for _, tangent in jvp(function, inputs, {position: tangent}))

        expected = [jvp(function, inputs, {position: vector}) for vector in vectors]
        try:
            got = vmap(pushforward, (wengert.stack([from_coordinates(vector, target) for vector in vectors]),))
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\ngradcheck or gradgradcheck failed while testing "
                "batched forward gradient computation; pass check_batched_forward_grad=False to leave it out."
            ) from error
        for output, batch in enumerate(got):
            primal = expected[0][output][0]
            rows = np.stack([gradient_coordinates(pairs[output][1], primal) for pairs in expected])
            compare_batches(batch, rows, primal, output, position, " (forward mode)")
