"""The compiler of an extension, and what it is told."""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from .paths import include_paths, library_paths

# As the library itself, but that what the extension does not export stays its own. With glibc the library's
# thread-local state is in the static block of each thread, where extensions may look for it (cmake/settings.cmake).
COMPILE = ["-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"]
if platform.libc_ver()[0] == "glibc":
    COMPILE.append("-ftls-model=initial-exec")
LINK = ["-shared"] if sys.platform != "darwin" else ["-bundle", "-undefined", "dynamic_lookup"]


def find_compiler() -> list[str]:
    """Return the command of the C++ compiler.

    Raises
    ------
    RuntimeError
        If there is none.
    """
    commands = [os.environ.get("CXX"), sysconfig.get_config_var("CXX"), "c++", "g++", "clang++"]
    for command in commands:
        parts = shlex.split(command) if command else []
        if parts and shutil.which(parts[0]):
            return parts
        if command and command == os.environ.get("CXX"):
            raise RuntimeError(f"there is no compiler {command!r}, which the environment variable CXX names")
    raise RuntimeError(
        "building an extension needs a C++20 compiler, and there is none: install one (on Debian: apt-get install g++) "
        "or name it in the environment variable CXX"
    )


@functools.cache
def identity(command: tuple[str, ...]) -> str:
    """Return what a compiler says of itself: its name and version."""
    result = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return result.stdout or result.stderr


def compile_flags(extra: Sequence[str], include: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return the flags of a compilation; what the user gives comes last, where it counts."""
    # Ours come before the user's: a folder `base` of his must not take the place of ours.
    folders = [*include_paths(), *(os.fspath(folder) for folder in include), sysconfig.get_path("include")]
    return [*COMPILE, *(f"-I{folder}" for folder in folders), *extra]


def link_flags(extra: Sequence[str]) -> list[str]:
    """Return the flags of linking, which come after the objects."""
    folders = library_paths()
    return [
        *(f"-L{folder}" for folder in folders),
        *(f"-Wl,-rpath,{folder}" for folder in folders),
        "-lwengert",
        *extra,
    ]


def dependencies(written: Path) -> list[str]:
    """Return the files that a compilation has read beside its source, of the file that ``-MMD`` wrote.

    The library's own headers are left out: their number is part of what identifies a build.
    """
    _, _, rest = written.read_text().replace("\\\n", " ").partition(": ")
    own = tuple(os.path.join(os.path.realpath(folder), "") for folder in include_paths())
    files = [os.path.abspath(part.replace("\\ ", " ")) for part in shlex.split(rest)[1:]]
    own_as_given = tuple(os.path.join(folder, "") for folder in include_paths())
    return [file for file in files if not file.startswith(own_as_given) and not os.path.realpath(file).startswith(own)]


def run(command: Sequence[str], verbose: bool) -> None:
    """Run a command of the build.

    Raises
    ------
    RuntimeError
        If it fails, with what it has written.
    """
    if verbose:
        print(shlex.join(command), flush=True)
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if verbose and result.stdout:
        print(result.stdout, flush=True)
    if result.returncode:
        raise RuntimeError(f"{shlex.join(command)}\n{result.stdout}")
