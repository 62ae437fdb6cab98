"""``python -m benchmarks``: one thread each, decided before any numerical library is loaded."""

import os
import sys
from importlib import import_module

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

if __name__ == "__main__":
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    sys.exit(import_module("benchmarks.run").main())
