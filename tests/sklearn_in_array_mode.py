"""scikit-learn's estimators, kernels and metrics on tensors, where its array API dispatch is on.

Run by tests/python/test_array_packages.py in a process of its own, with SCIPY_ARRAY_API=1.
"""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn import decomposition, linear_model, metrics, preprocessing
from sklearn.metrics import pairwise

import wengert as wg

X = np.linspace(-1.0, 2.0, 24).reshape(6, 4) ** 2


@pytest.fixture
def x():
    return wg.tensor(X, requires_grad=True)


def close(got, want):
    assert isinstance(got, wg.Tensor)
    assert got.requires_grad
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-8, atol=1e-9)


ESTIMATORS = [
    preprocessing.StandardScaler(), preprocessing.MinMaxScaler(), preprocessing.MaxAbsScaler(),
    preprocessing.Normalizer(), preprocessing.PolynomialFeatures(2), decomposition.PCA(2, svd_solver="full"),
]  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_estimators_of_scikit_learn(estimator, x):
    want = sklearn.clone(estimator).fit_transform(X + np.eye(6, 4))
    with sklearn.config_context(array_api_dispatch=True):
        close(estimator.fit_transform(x + wg.eye(6, 4)), want)


KERNELS = [
    "additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "euclidean_distances", "laplacian_kernel",
    "linear_kernel", "manhattan_distances", "paired_cosine_distances", "polynomial_kernel", "rbf_kernel",
    "sigmoid_kernel",
]  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_scikit_learn(name, x):
    function = getattr(pairwise, name)
    want = function(X, X[::-1].copy())
    with sklearn.config_context(array_api_dispatch=True):
        close(function(x, x.flip(0)), want)


def test_a_regression_of_scikit_learn_is_differentiable(x):
    y = X @ [1.0, 2.0, -1.0, 0.5]
    want = linear_model.Ridge(solver="svd").fit(X, y).predict(X)
    with sklearn.config_context(array_api_dispatch=True):
        close(linear_model.Ridge(solver="svd").fit(x, wg.tensor(y)).predict(x), want)


def test_metrics_of_scikit_learn_take_tensors():
    y = X @ [1.0, 2.0, -1.0, 0.5]
    with sklearn.config_context(array_api_dispatch=True):
        assert metrics.r2_score(wg.tensor(y), wg.tensor(y + 0.5)) == pytest.approx(metrics.r2_score(y, y + 0.5))
