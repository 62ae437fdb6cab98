"""Scale and shift: what layers share that normalise."""

from __future__ import annotations

from typing import Any

import wengert

from .. import init
from .._module import Module
from .._parameter import Parameter


class Affine(Module):
    """A layer with a `weight` that scales and a `bias` that shifts its results, or one of them, or None."""

    def _make_affine(self, shape: Any, device: Any, dtype: Any, **there: bool) -> None:
        """Register the parameters named: in a shape where they are there, None where they are not."""
        for name, is_there in there.items():
            made = Parameter(wengert.empty(shape, device=device, dtype=dtype)) if is_there else None
            self.register_parameter(name, made)

    def reset_parameters(self) -> None:
        """Set scale and shift to ones and zeros."""
        for name, fill in (("weight", init.ones_), ("bias", init.zeros_)):
            if (parameter := getattr(self, name, None)) is not None:
                fill(parameter)
