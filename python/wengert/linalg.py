"""Linear algebra: decompositions, solvers, norms. They come from the table of operations."""

import typing as _typing

from wengert._C import _LinAlgError as LinAlgError  # noqa: F401
from wengert._C._linalg import *  # noqa: F403

if not _typing.TYPE_CHECKING:  # with it, no name would be unknown to type checkers

    def __getattr__(name: str) -> _typing.Any:
        from wengert._missing import no_attribute

        raise no_attribute("linalg", name)
