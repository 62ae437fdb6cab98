"""``torch.cuda.amp``, the older place of ``torch.amp``."""

from __future__ import annotations

import functools
from typing import Any

import wengert
from wengert import amp

custom_fwd = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(amp.custom_bwd, device_type="cuda")


class GradScaler(amp.GradScaler):
    """The scaler of ``torch.amp``, for this device."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__("cuda", *args, **options)


class autocast(amp.autocast):
    """The context of ``torch.amp``, for this device."""

    def __init__(self, enabled: bool = True, dtype: Any = wengert.float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)
