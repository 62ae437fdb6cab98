"""What a report of an error should say about the machine and the packages on it."""

from __future__ import annotations

import os
import platform
import sys
from typing import TextIO

import wengert as wg
from wengert import _blas

_PACKAGES = (
    "numpy",
    "scipy",
    "mkl",
    "ml_dtypes",
    "einops",
    "matplotlib",
    "tqdm",
    "mpi4py",
    "mpich",
    "openmpi",
    "torch",
)


def show_versions(file: TextIO | None = None) -> None:
    """Print versions of this package, of what it uses and may meet, and facts about the machine.

    Nothing is imported for it: packages are asked for what they were installed as.

    Parameters
    ----------
    file : text file, optional
        Where to print; by default the standard output.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.utils.show_versions()
    wengert     ...
    python      ...
    """
    from importlib import metadata  # takes 15 ms, and nothing else needs it

    facts = {
        "wengert": wg.__version__,
        "python": sys.version.replace("\n", " "),
        "system": platform.platform(),
        "processor": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": str(wg.get_num_threads()),
        "blas": ", ".join(sorted({path.name for path in _blas._libraries()})) or "that of SciPy",
    }
    for name in _PACKAGES:
        try:
            facts[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    for name, fact in facts.items():
        print(f"{name:<11} {fact}", file=file)
