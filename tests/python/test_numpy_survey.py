"""Every public function of NumPy and of SciPy's namespaces is differentiable, refuses clearly, or has no derivative."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.special

import wengert as wg
from tests.numpy_calls import ARRAYS, MODULES, WITHOUT_ARRAYS, calls, code, names
from tests.numpy_survey import OUTCOMES, SURVEYS, row
from wengert._numpy_dispatch import _special

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "numpy.rst"


@pytest.mark.parametrize("name", SURVEYS)
def test_nothing_loses_a_derivative(name):
    found = SURVEYS[name]()
    assert not {function: said for function, said in found.items() if said not in OUTCOMES}
    page = PAGE.read_text()
    counted = f"NumPy {np.__version__.rpartition('.')[0]}, SciPy {scipy.__version__.rpartition('.')[0]}" in page
    assert not counted or row(name, found) in page, "python -m tests.numpy_survey prints the table of the documentation"


@pytest.mark.parametrize("name", MODULES)
def test_every_function_has_one_call(name):
    left_out = WITHOUT_ARRAYS[name].split()
    assert len(left_out) == len(set(left_out))
    given = MODULES[name][1]
    assert not set(given) & set(left_out)
    assert not [n for n in (*given, *left_out) if not callable(getattr(MODULES[name][0], n))]
    assert set(calls(name)) <= set(names(MODULES[name][0]))


def special_of_tensors():
    """The calls of special functions whose derivatives stand in Python, by name."""
    by_name = {call.function.__name__: call for call in calls("scipy.special").values()}
    known = {name: by_name[name] for name in [*_special.PARTIALS, *_special.COMPOSED] if name in by_name}
    return {name: call for name, call in known.items() if name not in ("loggamma",)}


FIRST_ORDER_ALONE = {"elliprf", "itj0y0"}  # their derivatives are functions without one, or have a kink


@pytest.mark.parametrize("name", special_of_tensors())
def test_special_functions_in_both_modes_and_second_order(name):
    call = special_of_tensors()[name]

    def function(x):
        results = call.run(call.function, {**ARRAYS, "x": x})
        return results if isinstance(results, tuple) else (results,)

    x = wg.tensor(ARRAYS["x"], requires_grad=True)
    assert wg.autograd.gradcheck(function, (x,), check_forward_ad=True, check_batched_grad=True)
    if name not in FIRST_ORDER_ALONE:
        assert wg.autograd.gradgradcheck(function, (x,))


def test_special_functions_inside_vmap():
    x = wg.tensor(np.linspace(0.1, 0.9, 12).reshape(3, 4))
    want = scipy.special.jv(np.arange(4), x.numpy())
    got = wg.vmap(lambda row: scipy.special.jv(np.arange(4), row))(x)
    np.testing.assert_allclose(got.numpy(), want)
    got = wg.vmap(lambda a, z: scipy.special.jv(a, z), in_dims=(None, 1))(wg.arange(3.0, dtype=wg.float64), x)
    np.testing.assert_allclose(got.numpy(), scipy.special.jv(np.arange(3.0), x.numpy().T))


def test_a_derivative_without_formula_is_refused():
    with pytest.raises(TypeError, match="no derivative for argument 1"):
        scipy.special.betainc(wg.tensor(1.5, requires_grad=True), 2.0, 0.3)


def test_names_of_scipy_mean_scipy_s_functions():
    x = wg.tensor([0.3, 0.6])
    np.testing.assert_allclose(scipy.special.kl_div(x, x + 0.1), scipy.special.kl_div(x.numpy(), x.numpy() + 0.1), 1e-5)


MORE_CALLS = [
    (np.insert, "f(m, 1, x[:3], axis=0)"), (np.insert, "f(m, 1, x[:3], axis=1)"), (np.insert, "f(x, 2, y[0])"),
    (np.insert, "f(m, [0, 2], x[:2].reshape(2, 1), axis=0)"), (np.insert, "f(x, slice(1, 4), y[:3])"),
    (np.delete, "f(x, [0, 3])"), (np.delete, "f(m, slice(0, 2), 1)"), (np.delete, "f(x, b)"),
    (np.convolve, "f(x[:3], y, 'full')"), (np.convolve, "f(x[:3], y, 'same')"), (np.convolve, "f(x, y[:3], 'valid')"),
    (np.correlate, "f(x, y[:4], 'same')"), (np.correlate, "f(x[:3], y, 'full')"), (np.correlate, "f(z, z[:2], 'full')"),
    (np.correlate, "f(x[:4], y, 'same')"), (np.correlate, "f(x, y[:3])"), (np.correlate, "f(x[:3], y, 'same')"),
    (np.interp, "f(x, u, y, left=0.0, right=1.0)"), (np.interp, "f(2.9 * x, u, y, period=1.0)"),
    (np.interp, "f(2 * x - 0.5, u, y)"), (np.gradient, "f(m)[0]"), (np.gradient, "f(m, 0.5, axis=1)"),
    (np.gradient, "f(x, 0.3, edge_order=2)"), (np.gradient, "f(m, u[:3], u[:3])[1]"),
    (np.piecewise, "f(x, [x < 0.4], [lambda t: t ** 2, 2.0])"), (np.piecewise, "f(x, x < 0.4, [1.0, lambda t: t])"),
    (np.select, "f([x < 0.3], [x], default=y)"), (np.choose, "f(i, [x, 1.0, y], mode='clip')"),
    (np.cov, "f(x, y)"), (np.cov, "f(m, rowvar=False, bias=True)"), (np.corrcoef, "f(x, y)"), (np.cov, "f(x)"),
    (np.polyfit, "f(u, y, 1, w=x)"), (np.polyfit, "f(u, s[:, :2].reshape(6), 3)"), (np.poly, "f(m)"),
    (np.polyval, "f(x, m)"), (np.polyint, "f(x, 1, 2.0)"), (np.roots, "f(np.concatenate([[0.0], x[:3], [0.0]]))"),
    (np.unwrap, "f(x * np.array([1.0, 20.0, -9.0, 4.0, 7.0, -30.0]))"), (np.block, "f([x, y])"),
    (np.block, "f([[s, m[:, :1]], [x[:3], 1.0]])"), (np.nanmax, "f(np.where(b, np.nan, x))"),
    (np.nansum, "f(np.where(b, np.nan, x))"), (np.nancumsum, "f(np.where(b, np.nan, x))"),
    (np.nanmedian, "f(np.where(b, np.nan, x))"), (np.nanmin, "f(np.where(b, np.nan, x), axis=0)"),
    (np.unique, "f(x, return_index=True, return_counts=True)"), (np.partition, "f(m, 1, axis=0)"),
    (np.apply_along_axis, "f(lambda t: (t * t).sum(), 0, m)"), (np.linspace, "f(x, y, 4, axis=1, endpoint=False)"),
    (np.linspace, "f(x[0], 2, 3, retstep=True)"), (np.logspace, "f(x, y, 3, base=2.0)"), (np.geomspace, "f(x, y, 4)"),
    (np.resize, "f(x, (2, 2))"), (np.trim_zeros, "f(np.concatenate([x, [0.0]]), 'b')"), (np.compress, "f(b[:3], m, 1)"),
    (np.cumulative_sum, "f(m, axis=1, include_initial=True)"),
    (np.histogram, "f(d, np.array([0.0, 0.3, 0.5, 1.0]), weights=x)[0]"),
    (np.histogram, "f(d, 4, range=(0, 1), weights=x, density=True)[0]"), (np.union1d, "f(x, y)"),
    (np.polydiv, "f(x, y[:1])"), (np.polydiv, "f(x[:2], y)"), (np.take_along_axis, "f(m, i[None, :3], 0)"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "text"), MORE_CALLS, ids=lambda p: p if isinstance(p, str) else p.__name__)
def test_options_of_functions(function, text):
    from tests.numpy_survey import outcome

    assert outcome(lambda arrays: code(text)(function, arrays)) == "differentiable"


@pytest.mark.parametrize(
    "write",
    [
        lambda t, v: np.copyto(t, v),
        lambda t, v: np.put(t, [0], v),
        lambda t, v: np.putmask(t, t > 0, v),
        lambda t, v: np.place(t, t > 0, v),
        lambda t, v: np.put_along_axis(t, np.zeros((1, 2), int), v, 0),
    ],
)
def test_an_array_takes_no_elements_that_require_grad(write):
    with pytest.raises(TypeError, match="cannot hold elements that require grad"):
        write(np.ones((2, 2)), wg.tensor(2.0, requires_grad=True))


def test_conversions_of_single_elements_warn():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="no gradient flows through it"):
        np.fromiter(list(x), float)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.array([x[0], x[1]])
