"""`assert_close`: walks two structures side by side and compares what it finds at the ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert import _C
from wengert._C import Tensor
from wengert._tensor.arrays import as_array

from ._tolerances import resolve_tolerances
from ._values import compare_arrays, compare_numbers


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless two tensors, numbers, or nested sequences and mappings of them are close.

    Close means ``|actual - expected| <= atol + rtol * |expected|`` for every element, with equal attributes.

    Parameters
    ----------
    actual, expected : Tensor, ndarray, number, None, sequence or mapping
        What to compare.
    allow_subclasses : bool
        Whether the types may be different, if one is a subclass of the other.
    rtol, atol : float, optional
        Tolerances, both or neither; by default those of the dtype: float16 (1e-3, 1e-5), bfloat16 (1.6e-2, 1e-5),
        float32 and complex64 (1.3e-6, 1e-5), float64 and complex128 (1e-7, 1e-7), and exact for all others.
    equal_nan : bool
        Whether two NaN are equal.
    check_device, check_dtype, check_layout, check_stride : bool
        Which attributes must agree.
    msg : str or callable, optional
        Instead of the message; a callable gets the message and returns another.

    Raises
    ------
    AssertionError
        If the two are not close.
    TypeError
        If they hold something that cannot be compared.
    ValueError
        If one tolerance is given without the other.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.testing.assert_close(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 2.0 + 1e-6]))
    >>> wg.testing.assert_close({"loss": wg.tensor([1.0])}, {"loss": wg.tensor([2.0])})
    Traceback (most recent call last):
    ...
    AssertionError: Tensor-likes are not close!
    ...
    """
    rules = _Rules(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride)
    if (rtol is None) != (atol is None):
        resolve_tolerances(rtol, atol)
    problem = next(_problems(actual, expected, rules), None)
    if problem is None:
        return
    if callable(msg):
        problem = msg(problem)
    elif msg is not None:
        problem = msg
    raise AssertionError(problem)


@dataclass(frozen=True)
class _Rules:
    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool


def _problems(actual: Any, expected: Any, rules: _Rules, path: str = "") -> Iterator[str]:
    """Yield what differs in two structures; only the first problem need be one, as others may follow from it."""
    where = f"\n\nThe failure occurred for item {path}" if path else ""
    if _both(actual, expected, Mapping):
        missing = [key for key in expected if key not in actual]
        additional = [key for key in actual if key not in expected]
        if missing or additional:
            yield (
                f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {additional}{where}"
            )
        for key in expected:
            yield from _problems(actual[key], expected[key], rules, f"{path}[{key!r}]")
    elif _both(actual, expected, Sequence) and not isinstance(actual, str) and not isinstance(expected, str):
        if len(actual) != len(expected):
            yield f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
            yield from _problems(one, other, rules, f"{path}[{index}]")
    elif problem := _compare(actual, expected, rules, path):
        yield problem + where


def _compare(actual: Any, expected: Any, rules: _Rules, path: str) -> str | None:
    """Return what differs in two ends, None if nothing does."""
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}"
    if _both(actual, expected, (bool, np.bool_)):
        return None if actual == expected else f"Booleans mismatch: {actual} is not {expected}"
    if _both(actual, expected, (int, float, complex, np.number)):
        return _compare_numbers(actual, expected, rules)
    if _both(actual, expected, (Tensor, np.ndarray)) and _related(actual, expected, rules.allow_subclasses):
        return _compare_tensors(actual, expected, rules)
    raise TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}"
        + (f" at item {path}; " if path else "; ")
        + "compare tensors, numbers, None, or sequences and mappings of them."
    )


def _both(actual: Any, expected: Any, types: Any) -> bool:
    return isinstance(actual, types) and isinstance(expected, types)


def _related(actual: Any, expected: Any, allow_subclasses: bool) -> bool:
    if type(actual) is type(expected):
        return True
    return allow_subclasses and (isinstance(actual, type(expected)) or isinstance(expected, type(actual)))


def _compare_numbers(actual: Any, expected: Any, rules: _Rules) -> str | None:
    if rules.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    rtol, atol = resolve_tolerances(rules.rtol, rules.atol, type(actual), type(expected))
    return compare_numbers(actual, expected, rtol, atol, rules.equal_nan)


def _compare_tensors(actual: Any, expected: Any, rules: _Rules) -> str | None:
    problem = _compare_attributes(actual, expected, rules)
    if problem is not None:
        return problem
    if _is_sparse(actual) or _is_sparse(expected):
        return _compare_sparse(actual, expected, rules)
    rtol, atol = resolve_tolerances(rules.rtol, rules.atol, actual.dtype, expected.dtype)
    return compare_arrays(_as_array(actual), _as_array(expected), rtol, atol, rules.equal_nan)


def _is_sparse(value: Any) -> bool:
    return isinstance(value, Tensor) and value.layout != _C.strided


def _compare_sparse(actual: Any, expected: Any, rules: _Rules) -> str | None:
    """Compare places and values of coalesced tensors; of different layouts all elements."""
    if not (_is_sparse(actual) and _is_sparse(expected)):
        return _compare_tensors(actual.to_dense(), expected.to_dense(), rules)
    one, other = actual.detach().to_sparse_coo().coalesce(), expected.detach().to_sparse_coo().coalesce()
    if one._nnz() != other._nnz():
        return f"The number of specified values in sparse tensors does not match: {one._nnz()} != {other._nnz()}."
    if not np.array_equal(one.indices().numpy(), other.indices().numpy()):
        return "The indices of the specified values in sparse tensors do not match."
    problem = _compare_tensors(one.values(), other.values(), rules)
    return f"Sparse values: {problem}" if problem else None


def _compare_attributes(actual: Any, expected: Any, rules: _Rules) -> str | None:
    pairs: list[tuple[str, Any, Any]] = [("shape", tuple(actual.shape), tuple(expected.shape))]
    if isinstance(actual, Tensor):
        if rules.check_layout:
            pairs.append(("layout", actual.layout, expected.layout))
        if rules.check_device:
            pairs.append(("device", actual.device, expected.device))
        if rules.check_stride:
            pairs.append(("stride()", actual.stride(), expected.stride()))
    if rules.check_dtype:
        pairs.append(("dtype", actual.dtype, expected.dtype))
    for name, one, other in pairs:
        if one != other:
            return f"The values for attribute '{name}' do not match: {one} != {other}."
    return None


def _as_array(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else as_array(value)
