"""Discrete Fourier transforms. They come from the table of operations and are computed by SciPy."""

import typing as _typing

from wengert._C._fft import *  # noqa: F403

if not _typing.TYPE_CHECKING:  # with it, no name would be unknown to type checkers

    def __getattr__(name: str) -> _typing.Any:
        from wengert._missing import no_attribute

        raise no_attribute("fft", name)
