"""Names of PyTorch's tools for other devices and other profilers."""

from __future__ import annotations

from typing import Any


def kineto_available() -> bool:
    """Return whether PyTorch's own tracing library is there: never."""
    return False


class _EmitRanges:
    """Marks operations for an outside profiler; only with its library."""

    _library: str

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self) -> Any:
        if self.enabled:
            raise RuntimeError(
                f"[{type(self).__name__}] {self._library} is not available on this machine; use "
                "wengert.autograd.profiler.profile, or pass enabled=False"
            )
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass


class emit_nvtx(_EmitRanges):
    """Marks operations for NVIDIA's profilers; raises RuntimeError where there is no such device."""

    _library = "NVTX"


class emit_itt(_EmitRanges):
    """Marks operations for Intel VTune; raises RuntimeError where its library is missing."""

    _library = "ITT"
