"""Writing a file in the place of an old one, which stays whole until the new one is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of the one at a path when all of it is written.

    Tensors that map the old file keep what they have; so they can be saved where they came from.
    """
    where = os.path.realpath(path)  # a link keeps to its file
    if not os.path.isfile(where):
        with open(where, "wb") as file:
            yield file
        return
    beside = f"{where}.{os.urandom(4).hex()}"
    try:
        with open(beside, "xb") as file:
            yield file
        shutil.copymode(where, beside)
        os.replace(beside, where)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
