"""``torch.accelerator``, a kind of device that is not here."""

from __future__ import annotations

from wengert.cuda import device_count as device_count
from wengert.cuda import is_available as is_available
from wengert.cuda import manual_seed as manual_seed
from wengert.cuda import manual_seed_all as manual_seed_all
from wengert.cuda import synchronize as synchronize
