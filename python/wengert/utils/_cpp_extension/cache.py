"""What has been built already.

A build is identified by what goes into it: the texts of the sources, the flags, the compiler, the headers of this
wengert, the interpreter. All of it together is the `key`, which names a folder. What the sources include beside that is
known only once they have been compiled; it stands in the folder's manifest with its hashes, and a build with another
content of those files gets another file name, since a process cannot load another library from the same path.

Processes that want the same thing at the same time wait for the first one: the folder has a lock, which the system
releases if its holder dies. A library is written under a name of its own and then renamed, so that what has the name is
complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path


def digest(parts: Iterable[str | bytes]) -> str:
    """Return a hash of texts, each apart from the next."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:16]


def hashes(files: Iterable[str]) -> dict[str, str]:
    """Return the hash of each file; of one that cannot be read, nothing."""
    found = {}
    for file in sorted(set(files)):
        try:
            found[file] = digest([Path(file).read_bytes()])
        except OSError:
            found[file] = ""
    return found


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder: one process at a time is in the block."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def built(folder: Path) -> Path | None:
    """Return the library that was built in a folder, if all that it was built of is as it was."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError):
        return None
    library = folder / manifest["library"]
    return library if library.exists() and hashes(manifest["dependencies"]) == manifest["dependencies"] else None


def note(folder: Path, library: str, dependencies: dict[str, str]) -> None:
    """Write down what `built` reads."""
    written = folder / f"manifest.{os.getpid()}"
    written.write_text(json.dumps({"library": library, "dependencies": dependencies}, indent=1))
    written.replace(folder / "manifest.json")
