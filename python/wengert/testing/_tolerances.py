"""How close is close: default tolerances of each dtype."""

from __future__ import annotations

from typing import Any

# (rtol, atol) by the name of the dtype; a complex dtype has those of its parts, and all others compare exactly.
_DEFAULTS = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def default_tolerances(*dtypes: Any) -> tuple[float, float]:
    """Return the loosest default ``(rtol, atol)`` among dtypes of wengert, of NumPy or of Python (double precision)."""
    found = [_DEFAULTS.get(_name(dtype), (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


def _name(dtype: Any) -> str:
    if dtype is float or dtype is complex:
        return {float: "float64", complex: "complex128"}[dtype]
    return dtype.__name__ if isinstance(dtype, type) else str(dtype).rpartition(".")[2]


def resolve_tolerances(rtol: float | None, atol: float | None, *dtypes: Any) -> tuple[float, float]:
    """Return the tolerances given, or the defaults if neither is."""
    if rtol is None and atol is None:
        return default_tolerances(*dtypes)
    if rtol is None or atol is None:
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    return rtol, atol
