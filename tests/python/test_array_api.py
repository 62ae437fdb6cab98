"""The array API standard, beside `array_api_strict`, its reference: names, signatures, values, types, special cases."""

from __future__ import annotations

import inspect
import itertools
import re
import warnings
from pathlib import Path
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import wengert as wg
from tests.array_api_calls import CALLS, DTYPES, FFT, LINALG, arrays, elementwise
from wengert import array_api as xp

# What array_api_strict has besides the standard, and the types that the package does not have.
OF_STRICT_ALONE = {
    "Device", "__version__", "set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags",
    "ArrayAPIStrictFlags",
}  # fmt: skip
ABSENT_TYPES = {name for name in ("uint16", "uint32", "uint64") if not hasattr(wg, name)}

NAMES = [("", n) for n in strict.__all__ if n not in OF_STRICT_ALONE | ABSENT_TYPES]
NAMES += [("linalg", n) for n in strict.linalg.__all__] + [("fft", n) for n in strict.fft.__all__]


@pytest.fixture(autouse=True)
def _double():
    """array_api_strict makes numbers of 64 bits."""
    before = wg.get_default_dtype()
    wg.set_default_dtype(wg.float64)
    yield
    wg.set_default_dtype(before)


def of(namespace, place, name):
    return getattr(getattr(namespace, place) if place else namespace, name)


@pytest.mark.parametrize(("place", "name"), NAMES)
def test_every_name_is_there_with_its_signature(place, name):
    theirs, ours = of(strict, place, name), of(xp, place, name)
    if not callable(theirs) or isinstance(theirs, (type, strict._dtypes.DType)):
        return
    expected = [(p.name, p.kind, _default(p)) for p in inspect.signature(theirs).parameters.values()]
    assert [(p.name, p.kind, _default(p)) for p in inspect.signature(ours).parameters.values()] == expected
    assert ours.__name__ == name
    assert inspect.getdoc(ours)


def _default(parameter):
    return None if "UNDEF" in repr(parameter.default) else parameter.default  # array_api_strict's own word for None


def all_calls():
    """Every call of every function: those of one and two arrays are alike."""
    for name, count in elementwise().items():
        if count == 1:
            yield name, lambda xp, a, name=name: getattr(xp, name)(a.x)
            yield name, lambda xp, a, name=name: getattr(xp, name)(a.one)
            continue
        for second in ("y", "row", "one"):
            yield name, lambda xp, a, n=name, second=second: getattr(xp, n)(a.x, getattr(a, second))
        yield name, lambda xp, a, name=name: getattr(xp, name)(a.one, a.row)
        yield name, lambda xp, a, name=name: getattr(xp, name)(a.x, 2)
        yield name, lambda xp, a, name=name: getattr(xp, name)(True, a.mask)
        yield name, lambda xp, a, name=name: getattr(xp, name)(2, a.y)
    for table, prefix in ((CALLS, ""), (LINALG, "linalg."), (FFT, "fft.")):
        for name, calls in table.items():
            yield from ((prefix + name, call) for call in calls)


ALL_CALLS = list(all_calls())


def test_every_function_has_a_call():
    called = {name for name, _ in ALL_CALLS}
    functions = {f"{p}.{n}".lstrip(".") for p, n in NAMES if callable(of(strict, p, n))}
    dtypes = {n for n in strict.__all__ if isinstance(getattr(strict, n), strict._dtypes.DType)}
    assert functions - called - dtypes == {"__array_namespace_info__"}


FLOATING_ALONE = {"linalg.matrix_rank"}  # where the reference takes more than the standard says


def expected_of(call, dtype):
    """What the reference makes of a call; None where the standard says nothing about such types."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return (call(strict, arrays(strict, dtype)),)
        except (TypeError, OverflowError, ValueError, np.linalg.LinAlgError):
            return None


def plain(value: Any) -> Any:
    """A result as NumPy's arrays, numbers and lists of them."""
    if isinstance(value, wg.Tensor):
        return value.resolve_conj().detach().numpy()
    if isinstance(value, strict._array_object.Array):
        return np.asarray(value._array)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (wg.dtype, strict._dtypes.DType)):
        return str(value).rpartition(".")[2]
    return value


def assert_same(got, want, tolerance=1e-5, what=""):
    if isinstance(want, list):
        assert isinstance(got, list)
        assert len(got) == len(want), what
        for g, w in zip(got, want, strict=True):
            assert_same(g, w, tolerance, what)
        return
    if not isinstance(want, np.ndarray):
        assert got == want, what
        return
    if want.dtype.name in ABSENT_TYPES:
        want = want.astype(np.int64)
    assert (got.dtype, got.shape) == (want.dtype, want.shape), what
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=what)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted({name for name, _ in ALL_CALLS}))
def test_values_are_those_of_the_reference(name, dtype):
    for call in (call for n, call in ALL_CALLS if n == name):
        want = expected_of(call, dtype)
        if want is not None and not (name in FLOATING_ALONE and dtype[:3] in ("boo", "int", "uin")):
            tolerance = 1e-12 if dtype in ("float64", "complex128") else 2e-5
            assert_same(plain(call(xp, arrays(xp, dtype))), plain(want[0]), tolerance, f"{name} of {dtype}")


# Elements where the standard has special cases: all functions of them, all pairs.
#
# What the standard says where NumPy, and so the reference, does something else: https://data-apis.org/array-api/2025.12,
# special cases of `expm1`.
STATED = [
    ("expm1", (complex(np.inf, 0.0),), complex(np.inf, 0.0)),
    ("expm1", (complex(np.nan, 0.0),), complex(np.nan, 0.0)),
    ("expm1", (complex(0.0, 0.0),), 0j),
    ("expm1", (complex(-np.inf, 0.0),), complex(-1.0, 0.0)),
]


@pytest.mark.parametrize(("name", "arguments", "want"), STATED)
def test_special_cases_that_the_reference_lacks(name, arguments, want):
    got = getattr(xp, name)(*(xp.asarray(argument) for argument in arguments))
    assert _same_element(np.complex128(complex(got)), np.complex128(want))


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1e300, -1e300, 1e-300]
SPECIAL_PARTS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5]


# The standard leaves these open for complex numbers, or says what the reference does not do (`STATED`).
OPEN_FOR_COMPLEX = {"divide", "expm1", "pow", "reciprocal", "sign"}


def special_values(dtype):
    if dtype == "float64":
        return np.array(SPECIAL)
    return np.array([complex(*parts) for parts in itertools.product(SPECIAL_PARTS, repeat=2)])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", elementwise())
def test_special_cases(name, dtype):
    if dtype == "complex128" and name in OPEN_FOR_COMPLEX:
        return
    values = special_values(dtype)
    count = elementwise()[name]
    operands = [values] if count == 1 else [a.reshape(-1).copy() for a in np.meshgrid(values, values)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            want = plain(getattr(strict, name)(*map(strict.asarray, operands)))
        except (TypeError, ValueError):
            return  # not defined for the type
    got = plain(getattr(xp, name)(*map(xp.asarray, operands)))
    assert got.dtype == want.dtype
    different = [
        (*(o[i] for o in operands), got[i], want[i]) for i in range(len(got)) if not _same_element(got[i], want[i])
    ]
    assert not different, different[:10]


def _same_element(got, want):
    if isinstance(want, np.complexfloating):
        return _same_element(got.real, want.real) and _same_element(got.imag, want.imag)
    if np.isnan(want):
        return np.isnan(got)
    return bool(np.isclose(got, want, rtol=1e-12, atol=0)) and np.signbit(got) == np.signbit(want)


# --- Tensors
def test_tensors_name_the_namespace():
    x = wg.ones(2)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2024.12") is xp
    with pytest.raises(ValueError, match="no edition '1999"):
        x.__array_namespace__(api_version="1999.12")
    assert xp.__array_api_version__ == strict.__array_api_version__
    assert set(strict.__all__) - OF_STRICT_ALONE - ABSENT_TYPES <= set(dir(xp))


def test_type_checkers_see_the_types():
    text = Path(xp.__file__).read_text()
    shown = set(re.findall(r"^    from wengert import (\w+) as \1$", text, re.MULTILINE))
    assert shown == set(xp.__array_namespace_info__().dtypes())


def test_tensors_have_the_methods_of_arrays():
    """Those of the reference, though `size` is PyTorch's method; ``x @= y`` is ``x = x @ y``."""
    public = [name for name in dir(strict._array_object.Array) if not name.startswith("_") or name.startswith("__")]
    others = {"__module__", "__buffer__", "__slots__", "__weakref__", "__imatmul__"}
    assert {name for name in public if not hasattr(wg.Tensor, name)} <= others
    assert complex(wg.tensor(2.0)) == 2.0
    assert wg.ones(2).to_device(wg.device("cpu")).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="stream="):
        wg.ones(2).to_device("cpu", stream=1)


def test_inspection():
    info = xp.__array_namespace_info__()
    assert info.default_device() == wg.device("cpu")
    assert info.devices() == (wg.device("cpu"),)
    assert info.capabilities()["data-dependent shapes"] is True
    assert set(info.default_dtypes()) == set(strict.__array_namespace_info__().default_dtypes())
    for kind in (None, "bool", "integral", "numeric", ("real floating", "complex floating")):
        theirs = set(strict.__array_namespace_info__().dtypes(kind=kind))
        assert set(info.dtypes(kind=kind)) == theirs - ABSENT_TYPES
    with pytest.raises(ValueError, match="unknown kind"):
        info.dtypes(kind="decimal")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: xp.squeeze(xp.ones((2, 1)), 0), "not of length 1"),
        (lambda: xp.nonzero(xp.asarray(1)), "without axes"),
        (lambda: xp.cumulative_sum(xp.ones((2, 2))), "axis= is needed"),
        (lambda: xp.take(xp.ones((2, 2)), xp.asarray([0])), "axis= is needed"),
        (lambda: xp.asarray([1.0], copy=False), "no memory to share"),
        (lambda: xp.asarray(xp.ones(2), dtype=xp.int8, copy=False), "without a copy"),
        (lambda: xp.result_type(1, 2.0), "at least one"),
    ],
)
def test_errors(call, error):
    with pytest.raises(ValueError, match=error):
        call()


def test_what_is_made_of_tensors_keeps_their_history():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    (grad,) = wg.autograd.grad(xp.sum(xp.asarray([[x[0], 3.0], [x[1], x[0]]])), x)
    assert grad.tolist() == [2.0, 1.0]
    (grad,) = wg.autograd.grad(xp.sum(xp.linspace(x[0], x[1], 4, endpoint=False)), x)
    np.testing.assert_allclose(grad, [2.5, 1.5])
    (grad,) = wg.autograd.grad(xp.sum(xp.remainder(xp.asarray(7.0), x) * 2), x)
    assert grad.tolist() == [-14.0, -6.0]


def differentiable():
    """Functions whose results are numbers that depend on theirs: all calls but those of types, orders and counts."""
    constant = {
        "ceil", "empty", "empty_like", "eye", "floor", "full", "full_like", "linspace", "ones", "ones_like", "round",
        "arange", "sign", "trunc", "zeros", "zeros_like", "fft.fftfreq", "fft.rfftfreq", "meshgrid", "asarray",
        "from_dlpack", "nextafter", "floor_divide", "linalg.vector_norm",
    }  # fmt: skip
    return [(name, call) for name, call in ALL_CALLS if name not in constant]


@pytest.mark.parametrize("name", sorted({name for name, _ in differentiable()}))
def test_results_that_depend_on_numbers_are_differentiable(name):
    for call in (call for n, call in differentiable() if n == name):
        want = expected_of(call, "float64")
        if want is None:
            continue
        given = arrays(xp, "float64")
        for key in ("x", "y", "row", "square", "one"):
            getattr(given, key).requires_grad_()
        try:
            results = call(xp, given)
        except RuntimeError as refusal:
            if "the derivative of QR is not defined when mode='complete'" in str(refusal):
                continue
            raise
        for result in results if isinstance(results, (tuple, list)) else [results]:
            if isinstance(result, wg.Tensor) and (result.is_floating_point() or result.is_complex()):
                assert result.requires_grad, name
