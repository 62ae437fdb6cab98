"""``torch.amp``: losses are on the GPU where nothing else is said, so they are not scaled."""

from __future__ import annotations

from typing import Any

from wengert import amp

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
    """``torch.amp.GradScaler``, with PyTorch's default device."""

    def __init__(self, device: str = "cuda", *args: Any, **options: Any) -> None:
        super().__init__(device, *args, **options)
