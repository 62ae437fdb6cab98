"""What rows compute, said once more without this package: a few lines of NumPy, SciPy or plain loops for each.

`reference("name", ...)` registers a function of the row's arguments, by the names of its schema, that returns what
the row returns (None in place of a result that is not determined). `relation("name", ...)` registers one that is called
with the results first and asserts what they satisfy: of factors of matrices, only their products are determined.
Nothing here may call the package under test. tests/ops/test_references.py compares, and finds rows that have neither.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Function = Callable[..., Any]
REFERENCES: dict[str, Function] = {}
RELATIONS: dict[str, Function] = {}


def reference(*names: str) -> Callable[[Function], Function]:
    return lambda function: _register(REFERENCES, names, function)


def relation(*names: str) -> Callable[[Function], Function]:
    return lambda function: _register(RELATIONS, names, function)


def _register(registry: dict[str, Function], names: tuple[str, ...], function: Function) -> Function:
    for name in names:
        assert name not in {*REFERENCES, *RELATIONS}, f"two references of '{name}'"
        registry[name] = function
    return function


def transposed(forward: Callable[[np.ndarray], Any], cotangent: np.ndarray, sizes: Any) -> np.ndarray:
    """The transpose of a linear map with real coefficients, applied to `cotangent`: element by element."""
    out = np.zeros(tuple(sizes), np.asarray(cotangent).dtype)
    for place in np.ndindex(out.shape):
        basis = np.zeros(out.shape)
        basis[place] = 1
        out[place] = np.sum(np.asarray(forward(basis)) * cotangent)
    return out


def load() -> None:
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        importlib.import_module(f"{__name__}.{path.stem}")
