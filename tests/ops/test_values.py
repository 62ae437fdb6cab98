"""Values of elementwise operations: against mpmath, NumPy and SciPy, in float64, float32 and complex128."""

from __future__ import annotations

import zlib
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special

import wengert as wg
from tests.ops.exact_world import ExactWorld
from tests.ops.interpreter import evaluate
from tests.ops.operations import ELEMENTWISE, OPERATIONS, Operation, case
from tests.ops.points import other_value, range_of

# What NumPy and SciPy call otherwise. `sgn` is np.sign, which is z / |z| for complex numbers since NumPy 2.
NUMPY_NAMES = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "div": "true_divide",
    "mul": "multiply",
    "sub": "subtract",
    "sgn": "sign",
    "neg": "negative",
    "round": "rint",
    "pow": "power",
    "abs": "absolute",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "sigmoid": "expit",
    "lgamma": "gammaln",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "bessel_i": "iv",
    "bessel_j": "jv",
    "bessel_j0": "j0",
    "bessel_j1": "j1",
    "bessel_y": "yn",
    "bessel_y0": "y0",
    "bessel_y1": "y1",
    "bessel_k": "kn",
    "modified_bessel_k0": "k0",
    "modified_bessel_k1": "k1",
    "scaled_modified_bessel_k0": "k0e",
    "scaled_modified_bessel_k1": "k1e",
    "matmul": "matmul",
}
DIFFERENT = {
    "kl_div",
    "ldexp",
    "positive",
    "polygamma",
    "where",
    "complex",
    "real",
    "imag",
    "sum",
    "clip",
    "frexp",
}  # same name, other arguments


def library_function(operation: Operation) -> Any:
    name = NUMPY_NAMES.get(operation.name, operation.name)
    function = getattr(np, name, None) or getattr(special, name, None)
    of_elements = isinstance(function, np.ufunc) and operation.entry["results"][0]["type"] == "Tensor"
    return function if of_elements and operation.name not in DIFFERENT else None


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if library_function(o)], ids=repr)
def test_agrees_with_numpy_or_scipy(operation: Operation) -> None:
    function = library_function(operation)
    for is_complex in [False, True] if operation.allows_complex and "D" in "".join(function.types) else [False]:
        for sample in operation.samples(is_complex=is_complex):
            arguments = [sample.arguments[a["name"]] for a in operation.arguments]
            result = operation(case(operation, sample).values)
            np.testing.assert_allclose(result.numpy(), function(*arguments), rtol=1e-13, atol=1e-300)


def grid(operation: Operation, argument: str) -> np.ndarray:
    low, high = range_of(operation.entry["domain"], argument)
    rng = np.random.default_rng(zlib.crc32(operation.name.encode()))
    return np.concatenate(
        [np.linspace(low, high, 9)[1:-1], rng.uniform(low, high, 4), low + (high - low) * 2.0 ** -np.arange(10, 40, 10)]
    )


REAL_ROWS = [
    o for o in ELEMENTWISE if "floating" in o.categories and o.result_rule in ("Same", "Floating") and not o.writes_only
]


@pytest.mark.parametrize("operation", REAL_ROWS, ids=repr)
def test_agrees_with_mpmath(operation: Operation) -> None:
    """The kernel's text in 50 digits, against what was compiled from it; off by what moving an argument an ulp does."""
    tensors = [a["name"] for a in operation.arguments if a["type"] in ("Tensor", "Operand")]
    rest = {a["name"]: other_value(operation.entry, a) for a in operation.arguments if a["name"] not in tensors}
    columns = {n: grid(operation, n)[:: 1 if i % 2 == 0 else -1].copy() for i, n in enumerate(tensors)}
    world = ExactWorld()

    def exact(row: dict[str, Any]) -> Any:
        return evaluate(operation.formulas["kernel"], row, world)

    for n in {"condition", "mask"} & columns.keys():
        columns[n] = np.arange(len(columns[n])) % 2 == 0
    integers = {
        n: int(v) if t == "int" else v
        for n, v in rest.items()
        for a in operation.arguments
        if a["name"] == n
        for t in [a["type"]]
    }
    computed = operation({**{n: wg.tensor(v) for n, v in columns.items()}, **integers}).numpy()
    with mp.workdps(50):
        for i, got in enumerate(computed):
            row = {n: bool(v[i]) if v.dtype == bool else mpf(float(v[i])) for n, v in columns.items()} | {
                n: v if isinstance(v, bool) else mpf(v) for n, v in rest.items()
            }
            want = exact(row)
            numbers = [n for n in columns if columns[n].dtype != bool]
            moved = [exact({**row, n: row[n] * (1 + mpf(2) ** -52)}) for n in numbers]
            error = 1e-15 * abs(want) + sum(abs(m - want) for m in moved if mpmath.isfinite(m))
            assert abs(mpf(float(got)) - want) <= 8 * error + 1e-307, (row, got, float(want))


@pytest.mark.parametrize("operation", REAL_ROWS, ids=repr)
def test_float32(operation: Operation) -> None:
    """Computed in float32 from float32: near the float64 result, and of dtype float32."""
    for sample in operation.samples():
        single = {
            n: v.astype(np.float32) if isinstance(v, np.ndarray) and v.dtype == np.float64 else v
            for n, v in sample.arguments.items()
        }
        double = {
            n: v.astype(np.float64) if isinstance(v, np.ndarray) and v.dtype == np.float32 else v
            for n, v in single.items()
        }
        results = [
            operation({n: wg.tensor(v) if isinstance(v, np.ndarray) else v for n, v in values.items()})
            for values in (single, double)
        ]
        assert results[0].dtype == wg.float32
        if operation.name != "nextafter":
            np.testing.assert_allclose(results[0].numpy(), results[1].numpy(), rtol=1e-4, atol=1e-5)
