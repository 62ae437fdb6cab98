"""What each public function of NumPy's and SciPy's namespaces does with tensors that require grad.

Run as a module it prints the table of the documentation: python -m tests.numpy_survey
"""

from __future__ import annotations

import collections
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.stats
from scipy.stats._distr_params import distcont, distdiscrete

import wengert as wg

from .directional import by_backward, by_differences, leaves, numbers, tracked
from .numpy_calls import ARRAYS, MODULES, WITHOUT_ARRAYS, calls

# Results of floats that are the same whatever the numbers are: shapes, types, zeros. The last one warns.
CONSTANT = {"numpy": {"empty_like", "imag", "ones_like", "zeros_like", "fromiter"}}

OUTCOMES = ("differentiable", "refused", "no derivative", "no numbers")


def outcome(run: Callable[[Any], Any]) -> str:
    """What a function of the arrays does: an outcome, or what is wrong."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = run(dict(ARRAYS))
        tensors = tracked(ARRAYS)
        try:
            result = run(tensors)
        except (TypeError, RuntimeError, ValueError) as error:
            clear = "require" in str(error) or "must be scalars" in str(error)
            return "refused" if clear else f"unclear: {error}"
        if not any(isinstance(leaf, wg.Tensor) and leaf.requires_grad for leaf in leaves(result)):
            return "constant" if numbers(result) else "no derivative"
        return _compared(run, want, result, tensors)


def _compared(run: Any, want: Any, result: Any, tensors: Any) -> str:
    for expected, got in zip(numbers(want), numbers(result), strict=True):
        if not np.allclose(got, expected, rtol=1e-9, atol=1e-12):
            return f"other values: {got} for {expected}"
    slope, backward = by_differences(run, ARRAYS), by_backward(result, tensors)
    if abs(slope - backward) > 1e-6 * (1 + abs(slope)):
        return f"other derivative: {backward} for {slope}"
    return "differentiable"


def module(name: str) -> dict[str, str]:
    """The outcomes of all functions of a module of `numpy_calls`."""
    found = dict.fromkeys(WITHOUT_ARRAYS[name].split(), "no numbers")
    for function, call in calls(name).items():
        result = outcome(lambda arrays, call=call: call.run(call.function, arrays))
        found[function] = "no derivative" if result == "constant" and function in CONSTANT.get(name, ()) else result
    return found


def linear_algebra() -> dict[str, str]:
    """The outcomes of scipy.linalg, which makes arrays of what it gets: by the first call that is not misunderstood."""
    matrix = wg.tensor(ARRAYS["m"], requires_grad=True)
    return {name: _refuses(getattr(scipy.linalg, name), matrix) for name in _functions(scipy.linalg)}


def _functions(place: Any) -> list[str]:
    return [n for n in place.__all__ if callable(getattr(place, n)) and not isinstance(getattr(place, n), type)]


def _refuses(function: Any, matrix: Any) -> str:
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    count = max(sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in needed), 1)
    row = matrix[0]
    tries = [(matrix,) * count, (row,) * count, (matrix, row), (matrix, 2), ((matrix, matrix), row), (row, 2)]
    tries += [((1, 1), matrix, row), ((matrix, True), row)]
    for arguments in tries:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(*arguments)
        except Exception as error:
            if "require" in str(error):
                return "refused"
        else:
            return "lost"
    return "no numbers"  # it takes a size, or names


def log_densities() -> dict[str, str]:
    """The outcomes of the log densities of scipy.stats at a tensor."""
    found = {}
    point = wg.tensor(0.5, dtype=wg.float64, requires_grad=True)
    for name, shapes in (*distcont, *distdiscrete):
        if not isinstance(name, str):
            continue  # SciPy's tests make more of rv_histogram and rv_sample
        distribution = getattr(scipy.stats, name)
        density = getattr(distribution, "logpdf", None) or distribution.logpmf
        try:
            density(point, *shapes)
        except RuntimeError as error:
            found[name] = "refused" if "wengert.distributions" in str(error) else f"unclear: {error}"
        else:
            found[name] = "lost"
    return found


SURVEYS: dict[str, Callable[[], dict[str, str]]] = {
    **{name: lambda name=name: module(name) for name in MODULES},
    "scipy.linalg": linear_algebra,
    "scipy.stats": log_densities,
}


def row(name: str, found: dict[str, str]) -> str:
    """A line of the documentation's table."""
    counts = collections.Counter(found.values())
    return "   ".join([f"{f'``{name}``':<18}", *(f"{counts[outcome]:>14}" for outcome in OUTCOMES)]).rstrip()


if __name__ == "__main__":
    for name, survey in SURVEYS.items():
        print(row(name, survey()))
