"""Elements as NumPy's arrays, for those who look at values."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import _C


def as_array(tensor: Any) -> np.ndarray[Any, Any]:
    """Return the values as an array; those of bfloat16, which NumPy lacks, as float32."""
    values = tensor.detach()
    array: np.ndarray[Any, Any] = (values.float() if values.dtype == _C.bfloat16 else values).numpy(force=True)
    return array
