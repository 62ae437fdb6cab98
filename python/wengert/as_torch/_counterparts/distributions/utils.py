"""Helpers of ``torch.distributions.utils`` that gpytorch imports."""

from __future__ import annotations

from typing import Any

import wengert
from wengert import Tensor


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Return standard normal numbers."""
    return wengert.randn(shape, dtype=dtype, device=device)
