"""Programs and packages written for HIPS autograd, run as they are: `import autograd` means `wengert.compat.autograd`.

From the shell::

    python -m wengert.as_autograd program.py --its --arguments
    python -m wengert.as_autograd -m package.module

Or in a program, before anything imports autograd::

    import wengert.as_autograd
    wengert.as_autograd.install()
    from autograd import grad
"""

from __future__ import annotations

import importlib
import pkgutil
import runpy
import sys
from pathlib import Path

from wengert.compat import autograd

__all__ = ["install", "uninstall"]


def install() -> None:
    """Let `import autograd` mean `wengert.compat.autograd` in this process.

    Raises
    ------
    ImportError
        If autograd itself has been imported: its boxes and these would be mixed.
    """
    if sys.modules.get("autograd", autograd) is not autograd:
        raise ImportError("[as_autograd] autograd is already imported in this process: install before anything does")
    ours = autograd.__name__
    for module in (ours, *(m.name for m in pkgutil.walk_packages(autograd.__path__, f"{ours}."))):
        sys.modules[module.replace(ours, "autograd", 1)] = importlib.import_module(module)


def uninstall() -> None:
    """Let `import autograd` mean autograd again. Modules that have imported it meanwhile keep what they have."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "autograd"]:
        if sys.modules[name].__name__.startswith("wengert."):
            del sys.modules[name]


def main(arguments: list[str]) -> None:
    """Run a program, or a module after ``-m``, as Python does, with `import autograd` meaning ours."""
    is_module = arguments[:1] == ["-m"]
    program, *rest = arguments[is_module:] or [""]
    if not program or program.startswith("-"):
        sys.exit("usage: python -m wengert.as_autograd (program.py | -m package.module) [arguments]")
    install()
    sys.argv = [program, *rest]
    if is_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program).resolve().parent)
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
