"""Parameters, and the functions of neural networks in `wengert.nn.functional`."""

import typing as _typing

from . import functional, parameter
from ._parameter import Parameter

__all__ = ["Parameter", "functional", "parameter"]

if not _typing.TYPE_CHECKING:  # with it, no name would be unknown to type checkers

    def __getattr__(name: str) -> _typing.Any:
        from wengert._missing import no_attribute

        raise no_attribute("nn", name)
