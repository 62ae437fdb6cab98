"""The error of a failed check, and what it says."""

from __future__ import annotations

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
