"""What programs for PyTorch name although it changes no number here, each module under PyTorch's path for it.

Compilers return what they are given, devices that are not there say so, and switches may be set without effect. This
module has what is in ``torch`` itself.
"""

from __future__ import annotations

from typing import Any

import wengert
from wengert import Tensor

from .version import __version__ as __version__


def compile(model: Any = None, **options: Any) -> Any:
    """Return the function or the module itself; without one, a decorator that does."""
    return model if model is not None else lambda model: model


def set_default_tensor_type(t: Any) -> None:
    """Set the dtype of new tensors to that of a legacy type, as ``DoubleTensor`` is."""
    wengert.set_default_dtype(t().dtype)


def get_float32_matmul_precision() -> str:
    """Return "highest": products are computed in the precision of their operands."""
    return "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Do nothing: precisions are what may be left out, and here nothing is."""


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: there are no others."""


def are_deterministic_algorithms_enabled() -> bool:
    """Return True: there are no others."""
    return True


def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Tensor | None = None, dtype: Any = None
) -> Tensor:
    """Return the norm of a tensor, written into `out` if it is given, which the function of Wengert does not take."""
    result = wengert.norm(input, p, dim, keepdim, dtype=dtype)
    if out is None:
        return result
    return out.resize_(result.shape).copy_(result) if out.shape != result.shape else out.copy_(result)
