"""The standard's extension `fft`."""

from __future__ import annotations

from typing import Any

import wengert

from ._promotion import named

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _line(name: str) -> Any:
    transform = getattr(wengert.fft, name)

    def function(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
        return transform(x, n, axis, norm)

    return named(function, name, f"fft.{name}")


def _grid(name: str) -> Any:
    transform = getattr(wengert.fft, name)

    def function(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        return transform(x, s, axes, norm)

    return named(function, name, f"fft.{name}")


def _frequencies(name: str) -> Any:
    make = getattr(wengert.fft, name)

    def function(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
        return make(n, d, dtype=dtype, device=device)

    return named(function, name, f"fft.{name}")


def _shift(name: str) -> Any:
    shift = getattr(wengert.fft, name)

    def function(x: Any, /, *, axes: Any = None) -> Any:
        return shift(x, (axes,) if isinstance(axes, int) else axes)

    return named(function, name, f"fft.{name}")


fft, ifft, rfft, irfft = _line("fft"), _line("ifft"), _line("rfft"), _line("irfft")
hfft, ihfft = _line("hfft"), _line("ihfft")
fftn, ifftn, rfftn, irfftn = _grid("fftn"), _grid("ifftn"), _grid("rfftn"), _grid("irfftn")
fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")
fftshift, ifftshift = _shift("fftshift"), _shift("ifftshift")
