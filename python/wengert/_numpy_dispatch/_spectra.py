"""``numpy.fft``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert

from ._convert import tensor, written

_LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_PLANES = ("fft2", "ifft2", "rfft2", "irfft2")
_GRIDS = ("fftn", "ifftn", "rfftn", "irfftn")


def _line(name: str) -> Callable[..., Any]:
    transform = getattr(wengert.fft, name)

    def run(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return written(transform(tensor(a), n, axis, norm), out)

    return run


def _grid(name: str, default: Any) -> Callable[..., Any]:
    transform = getattr(wengert.fft, name)

    def run(a: Any, s: Any = None, axes_: Any = default, norm: Any = None, out: Any = None, *, axes: Any = None) -> Any:
        along = axes_ if axes is None else axes
        sizes = None if s is None else list(s)
        return written(transform(tensor(a), sizes, None if along is None else list(along), norm), out)

    return run


def _shift(name: str) -> Callable[..., Any]:
    shift = getattr(wengert.fft, name)

    def run(x: Any, axes: Any = None) -> Any:
        return shift(tensor(x), [axes] if isinstance(axes, int) else axes)

    return run


TABLE: dict[str, Callable[..., Any]] = {f"fft.{name}": _line(name) for name in _LINES}
TABLE |= {f"fft.{name}": _grid(name, (-2, -1)) for name in _PLANES}
TABLE |= {f"fft.{name}": _grid(name, None) for name in _GRIDS}
TABLE |= {f"fft.{name}": _shift(name) for name in ("fftshift", "ifftshift")}
