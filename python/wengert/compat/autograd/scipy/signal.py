"""Convolutions of vectors, along chosen axes as in autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

from .._boxes import isbox
from .._forwarding import forward


def convolve(A: Any, B: Any, mode: Any = "full") -> Any:  # noqa: N803  # autograd's names
    """Return the convolution of two vectors."""
    if not isbox(A) and not isbox(B):
        return scipy.signal.convolve(A, B, mode)
    if np.ndim(A) != 1 or np.ndim(B) != 1:
        raise NotImplementedError(
            f"[convolve] boxes of shapes {np.shape(A)} and {np.shape(B)}: vectors are taken alone"
        )
    return np.convolve(A, B, mode)


forward(globals(), scipy.signal)
