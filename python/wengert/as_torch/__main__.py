"""``python -m wengert.as_torch program.py [arguments]``, or ``-m package.module [arguments]``."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from wengert import as_torch


def main(arguments: list[str]) -> None:
    """Run a program, or a module after ``-m``, as Python does, with `import torch` meaning Wengert."""
    is_module = arguments[:1] == ["-m"]
    program, *rest = arguments[is_module:] or [""]
    if not program or program.startswith("-"):
        sys.exit("usage: python -m wengert.as_torch (program.py | -m package.module) [arguments]")
    as_torch.install()
    sys.argv = [program, *rest]
    if is_module:  # the folder that Python was started in is already the first to be searched
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program).resolve().parent)
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
