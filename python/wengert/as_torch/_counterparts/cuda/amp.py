"""``torch.cuda.amp``, the older place of ``torch.amp``."""

from __future__ import annotations

from typing import Any

from wengert.as_torch._counterparts import amp
from wengert.as_torch._counterparts.amp import GradScaler as GradScaler
from wengert.as_torch._counterparts.amp import custom_bwd as custom_bwd
from wengert.as_torch._counterparts.amp import custom_fwd as custom_fwd


class autocast(amp.autocast):
    """The context of ``torch.amp``, for this device."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)
