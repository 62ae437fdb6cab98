"""What programs import from `autograd.core`."""

from __future__ import annotations

from ._passes import make_jvp, make_vjp
from .extend import (
    VSpace,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive,
    vspace,
)

__all__ = [
    "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums",
    "make_jvp", "make_vjp", "primitive", "vspace",
]  # fmt: skip
