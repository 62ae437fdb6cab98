"""Modules of libraries and devices that are not here: they say so, and their switches may be set without effect."""

from __future__ import annotations

import contextlib
from typing import Any


class Switches:
    """Stands for a library, as ``torch.backends.cudnn``, with switches of the given initial values."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def is_available(self) -> bool:
        """Return False."""
        return False

    is_built = is_available

    def device_count(self) -> int:
        """Return 0."""
        return 0

    def version(self) -> None:
        """Return None, as for a library that PyTorch was built without."""

    def flags(self, *args: Any, **values: Any) -> contextlib.AbstractContextManager[None]:
        """Return a context that changes nothing."""
        return contextlib.nullcontext()
