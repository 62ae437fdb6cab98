"""``python -m benchmarks``, ``python -m benchmarks sweep`` and ``python -m benchmarks laplace``.

How many threads there are is decided before any numerical library is loaded: one, or what `--threads` says.
"""

import os
import sys
from importlib import import_module

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def number_of_threads(arguments):
    """What follows `--threads`, or one."""
    return arguments[arguments.index("--threads") + 1] if "--threads" in arguments[:-1] else "1"


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, number_of_threads(sys.argv)))
    if sys.argv[1:2] == ["sweep"]:
        sys.exit(import_module("benchmarks.sweep.command").main(sys.argv[2:]))
    if sys.argv[1:2] == ["laplace"]:
        sys.exit(import_module("benchmarks.laplace").main(sys.argv[2:]))
    sys.exit(import_module("benchmarks.run").main())
