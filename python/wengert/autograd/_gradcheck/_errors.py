"""The error of a failed check, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np


class GradcheckError(RuntimeError):
    """A derivative is wrong: raised by `gradcheck` and `gradgradcheck`."""


def mismatch_message(
    numerical: np.ndarray, analytical: np.ndarray, output: int, input: int, part: str, forward: bool
) -> str:
    """Describe two Jacobians (rows are output elements, columns input elements) that differ.

    They may belong to one `part` of complex tensors only, such as "real part of complex outputs".
    """
    considering = f"While considering the {part} only, " if part else ""
    kind = "Jacobian computed with forward mode mismatch" if forward else "Jacobian mismatch"
    difference = np.abs(numerical - analytical)
    worst = np.unravel_index(np.argmax(np.where(np.isnan(difference), np.inf, difference)), difference.shape)
    where = ", ".join(str(int(index)) for index in worst)
    return (
        f"{considering}{kind} for output {output} with respect to input {input},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
        f"The greatest difference is {difference[worst]} at [{where}] (row: element of the output, column: element of "
        "the input).\n"
    )


NONDETERMINISM = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values: the greatest difference is {difference}, and the tolerance for nondeterminism was {tolerance}. If this is "
    "expected, pass a larger nondet_tol."
)

UNDEFINED = (
    "Expected backward function to handle undefined output grads: a gradient that arrives as None counts as zero. "
    "The backward function raised: {error}"
)

BATCHED = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation{mode}. This could have been invoked "
    "with check_batched_grad=True or check_batched_forward_grad=True. For output {output} and input {input}, the "
    "batch gave\n{got}\nbut one call a sample gives\n{expected}\n"
)


def describe_array(tensor: Any) -> str:
    """Return the values of a tensor for a message."""
    return "None" if tensor is None else str(tensor.detach())
