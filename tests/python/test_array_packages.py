"""Packages written for the array API standard, or for arrays of any kind, take tensors and keep their derivatives."""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import einops
import einops.array_api
import numpy as np
import opt_einsum
import pytest

import wengert as wg
import wengert.utils.einops
from tests.scipy_in_array_mode import OVERWRITING, RANKS_ALONE, REFUSED

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "numpy.rst"
X = np.linspace(-1.0, 2.0, 24).reshape(6, 4) ** 2
assert wengert.utils.einops.WengertBackend


@pytest.fixture(scope="module")
def scipy_in_array_mode():
    """What SciPy's functions do with tensors in a process that runs them in array API mode."""
    program = importlib.util.find_spec("tests.scipy_in_array_mode").origin
    run = subprocess.run(
        [sys.executable, program],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def names(table, outcome):
    return {name for name, (found, _) in table.items() if found == outcome}


def test_scipy_loses_no_derivative(scipy_in_array_mode):
    """Results that are constants are of ranks alone, or of integers."""
    assert names(scipy_in_array_mode, "constant") == RANKS_ALONE
    assert not {name: said for name, (found, said) in scipy_in_array_mode.items() if found == "wrong"}


def test_scipy_refuses_what_it_computes_by_numpy(scipy_in_array_mode):
    refused = {name: said for name, (found, said) in scipy_in_array_mode.items() if found == "refused"}
    assert set(refused) == set().union(*REFUSED.values())
    assert not {
        name: said for name, said in refused.items() if not ("requires grad" in said or "inplace operation" in said)
    }


def test_what_scipy_writes_over_can_be_kept(scipy_in_array_mode):
    again = {f"{name} with copies" for name in OVERWRITING}
    assert again <= names(scipy_in_array_mode, "differentiable")


def test_the_documentation_counts_them(scipy_in_array_mode):
    once = {name: found for name, (found, _) in scipy_in_array_mode.items() if not name.endswith("with copies")}
    count = collections.Counter(once.values())
    page = " ".join(PAGE.read_text().split())
    assert (
        f"Of the {len(once)} that a test calls {count['differentiable']} are differentiable, "
        f"{count['constant']} depend on the order of the numbers alone, and {count['refused']} refuse"
    ) in page
    for reason, refused in REFUSED.items():
        listed = ", ".join(f"``{name}``" for name in sorted(refused))
        assert f"{reason}: {listed}" in page


@pytest.fixture
def x():
    return wg.tensor(X, requires_grad=True)


def close(got, want):
    assert isinstance(got, wg.Tensor)
    assert got.requires_grad
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-8, atol=1e-9)


def test_scikit_learn():
    """Its tests are in a process of their own: it asks SciPy for array API mode."""
    tests = importlib.util.find_spec("tests.sklearn_in_array_mode").origin
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("module", [einops, einops.array_api], ids=["einops", "einops.array_api"])
def test_einops(module, x):
    close(module.rearrange(x, "(a b) c -> b a c", a=2), einops.rearrange(X, "(a b) c -> b a c", a=2))
    for reduction in ("min", "max", "sum", "mean", "prod"):
        close(module.reduce(x, "(a b) c -> b", reduction, a=3), einops.reduce(X, "(a b) c -> b", reduction, a=3))
    close(module.repeat(x, "a b -> a (b c)", c=2), einops.repeat(X, "a b -> a (b c)", c=2))
    packed, shapes = module.pack([x, x[0]], "* c")
    close(packed, np.concatenate([X, X[:1]]))
    close(module.unpack(packed, shapes, "* c")[1], X[0])


def test_einops_einsum_and_lists(x):
    close(einops.einsum(x, x, "a b, c b -> a c"), X @ X.T)
    close(einops.rearrange([x, x], "k a b -> a (k b)"), np.concatenate([X, X], 1))
    assert einops.parse_shape(x, "a b") == {"a": 6, "b": 4}
    np.testing.assert_array_equal(einops.asnumpy(x), X)


def test_opt_einsum(x):
    other, third = X.T.copy(), np.arange(36.0).reshape(6, 6)
    want = np.einsum("ab,bc,cd->da", X, other, third)
    close(opt_einsum.contract("ab,bc,cd->da", x, wg.tensor(other), wg.tensor(third)), want)
    expression = opt_einsum.contract_expression("abc,bcd->da", (2, 3, 4), (3, 4, 5))
    assert expression(wg.ones(2, 3, 4), wg.ones(3, 4, 5)).shape == (5, 2)
