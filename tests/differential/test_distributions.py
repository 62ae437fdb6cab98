"""Families beside PyTorch's: densities and their derivatives, moments, shapes, mistakes.

The other files `test_distributions_*` take the cases and the comparison from here.
"""

import importlib
import inspect
import itertools

import numpy as np
import pytest

import wengert as wg
from wengert import distributions as ours

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Singular sample")
theirs = torch.distributions

MATRIX = np.array([[2.0, 0.3, -0.2], [0.3, 1.0, 0.1], [-0.2, 0.1, 0.5]])
FACTOR = np.linalg.cholesky(MATRIX)
THREE = np.array([0.2, 0.5, 0.3])

# Family -> parameters; arrays become tensors, other objects are handed over as they are.
CASES = [
    ("Normal", {"loc": np.array([0.5, -2.0]), "scale": np.array([1.5, 0.3])}),
    ("LogNormal", {"loc": np.array([0.5, -1.0]), "scale": np.array([0.5, 0.3])}),
    ("HalfNormal", {"scale": np.array([1.5, 0.3])}),
    ("LogisticNormal", {"loc": np.array([0.5, -1.0]), "scale": np.array([0.5, 0.3])}),
    ("Cauchy", {"loc": np.array([0.5, -2.0]), "scale": np.array([1.5, 0.3])}),
    ("HalfCauchy", {"scale": np.array([1.5, 0.3])}),
    ("Laplace", {"loc": np.array([0.5, -2.0]), "scale": np.array([1.5, 0.3])}),
    ("Gumbel", {"loc": np.array([0.5, -2.0]), "scale": np.array([1.5, 0.3])}),
    ("Exponential", {"rate": np.array([0.5, 3.0])}),
    ("Gamma", {"concentration": np.array([0.5, 3.0]), "rate": np.array([2.0, 0.7])}),
    ("InverseGamma", {"concentration": np.array([2.5, 3.0]), "rate": np.array([2.0, 0.7])}),
    ("Chi2", {"df": np.array([1.5, 4.0])}),
    ("Beta", {"concentration1": np.array([1.5, 3.0]), "concentration0": np.array([2.0, 0.7])}),
    ("Dirichlet", {"concentration": np.array([[1.5, 3.0, 0.5], [2.0, 2.0, 2.0]])}),
    ("Kumaraswamy", {"concentration1": np.array([1.5, 3.0]), "concentration0": np.array([2.0, 1.7])}),
    ("Pareto", {"scale": np.array([0.5, 3.0]), "alpha": np.array([2.5, 0.7])}),
    ("GeneralizedPareto", {"loc": np.array([0.5, 3.0, 1.0]), "scale": np.array([2.5, 0.7, 1.0]),
                           "concentration": np.array([0.2, -0.3, 0.4])}),
    ("Weibull", {"scale": np.array([0.5, 3.0]), "concentration": np.array([2.5, 1.7])}),
    ("Uniform", {"low": np.array([0.5, -3.0]), "high": np.array([2.5, 0.7])}),
    ("StudentT", {"df": np.array([3.5, 5.0]), "loc": np.array([0.5, -2.0]), "scale": np.array([1.5, 0.3])}),
    ("FisherSnedecor", {"df1": np.array([3.5, 5.0]), "df2": np.array([5.5, 7.0])}),
    ("VonMises", {"loc": np.array([0.5, -2.0]), "concentration": np.array([1.5, 30.0])}),
    ("MultivariateNormal", {"loc": np.array([0.5, -1.0, 0.0]), "covariance_matrix": MATRIX}),
    ("MultivariateNormal", {"loc": np.array([[0.5, -1.0, 0.0]] * 2), "precision_matrix": MATRIX}),
    ("MultivariateNormal", {"loc": np.array([0.5, -1.0, 0.0]), "scale_tril": np.stack([FACTOR, 2 * FACTOR])}),
    ("LowRankMultivariateNormal", {"loc": np.array([0.5, -1.0, 0.0]), "cov_factor": MATRIX[:, :2],
                                   "cov_diag": np.array([[0.5, 1.0, 2.0], [1.0, 1.0, 1.0]])}),
    ("Wishart", {"df": np.array([3.5, 5.0]), "covariance_matrix": MATRIX}),
    ("Wishart", {"df": np.array(4.0), "precision_matrix": MATRIX}),
    ("Wishart", {"df": np.array(4.0), "scale_tril": FACTOR}),
    ("LKJCholesky", {"dim": 3, "concentration": np.array([0.5, 2.0])}),
    ("Bernoulli", {"probs": np.array([0.2, 0.7])}),
    ("Bernoulli", {"logits": np.array([-2.0, 0.7])}),
    ("ContinuousBernoulli", {"probs": np.array([0.2, 0.7])}),
    ("ContinuousBernoulli", {"logits": np.array([-2.0, 0.7])}),
    ("RelaxedBernoulli", {"temperature": np.array(0.7), "probs": np.array([0.2, 0.7])}),
    ("RelaxedOneHotCategorical", {"temperature": np.array(0.7), "logits": np.array([0.2, 0.7, -1.0])}),
    ("Categorical", {"probs": THREE}),
    ("Categorical", {"logits": np.array([[0.5, 2.0, -1.0], [0.0, 0.0, 1.0]])}),
    ("OneHotCategorical", {"probs": THREE}),
    ("OneHotCategoricalStraightThrough", {"logits": np.array([0.5, 2.0, -1.0])}),
    ("Binomial", {"total_count": 5, "probs": np.array([0.2, 0.7])}),
    ("Binomial", {"total_count": np.array(3.0), "logits": np.array([-2.0, 0.7])}),
    ("NegativeBinomial", {"total_count": np.array([3.0, 2.5]), "probs": np.array([0.2, 0.7])}),
    ("NegativeBinomial", {"total_count": 2, "logits": np.array([-2.0, 0.7])}),
    ("Geometric", {"probs": np.array([0.2, 0.7])}),
    ("Geometric", {"logits": np.array([-2.0, 0.7])}),
    ("Poisson", {"rate": np.array([0.5, 7.0])}),
    ("Multinomial", {"total_count": 4, "probs": THREE}),
    ("Multinomial", {"total_count": 4, "logits": np.array([[0.5, 2.0, -1.0], [0.0, 0.0, 1.0]])}),
]  # fmt: skip
IDS = [f"{name}-{'-'.join(parameters)}" for name, parameters in CASES]
# PyTorch computes the Bessel functions of these by polynomials of few terms, and has cut something out of the other.
TOLERANCE = {"VonMises": 1e-6, "ContinuousBernoulli": 1e-8}
cases = pytest.mark.parametrize(("name", "parameters"), CASES, ids=IDS)


@pytest.fixture(autouse=True)
def in_double():
    """Numbers are of double precision, as the arrays are: some of PyTorch's families do not mix the two."""
    before = wg.get_default_dtype(), torch.get_default_dtype()
    wg.set_default_dtype(wg.float64)
    torch.set_default_dtype(torch.float64)
    yield
    wg.set_default_dtype(before[0])
    torch.set_default_dtype(before[1])


def tensors(backend, parameters, **options):
    return {k: backend.tensor(v, **options) if isinstance(v, np.ndarray) else v for k, v in parameters.items()}


def pair(name, parameters, **options):
    return tuple(
        getattr(module, name)(**tensors(backend, parameters, **options))
        for backend, module in ((wg, ours), (torch, theirs))
    )


def values_of(distribution, shape=(4,)):
    torch.manual_seed(0)
    return distribution.sample(shape).detach().numpy()


def assert_same(own, their, rtol=1e-9, atol=1e-11):
    assert tuple(own.shape) == tuple(their.shape)
    assert str(own.dtype).rpartition(".")[2] == str(their.dtype).rpartition(".")[2]
    np.testing.assert_allclose(own.detach().numpy(), their.detach().numpy(), rtol=rtol, atol=atol)


def test_all_names_are_there():
    missing = {name for name in theirs.__all__ if not hasattr(ours, name)}
    assert missing == set()
    for module in ("constraints", "transforms", "kl"):
        names = getattr(getattr(theirs, module), "__all__", [])
        assert {n for n in names if not hasattr(getattr(ours, module), n)} == set()


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_signatures(name):
    own, their = (list(inspect.signature(getattr(m, name).__init__).parameters) for m in (ours, theirs))
    assert own == their


@cases
def test_log_prob_and_its_derivatives(name, parameters):
    own, their = pair(name, parameters, requires_grad=True)
    value = values_of(their)
    x, y = wg.tensor(value), torch.tensor(value)
    differentiable = value.dtype == np.float64 and not getattr(their.support, "is_discrete", False)
    if differentiable:
        x.requires_grad_(), y.requires_grad_()
    a, b = own.log_prob(x), their.log_prob(y)
    assert_same(a, b, TOLERANCE.get(name, 1e-9))
    leaves = [v for k, v in vars(own).items() if k in parameters and isinstance(v, wg.Tensor)]
    # Off the simplex, and off the matrices of the support, densities may be continued in any way.
    if differentiable and name not in ("LKJCholesky", "Wishart", "Dirichlet", "LogisticNormal", "Uniform"):
        (g,), (h,) = wg.autograd.grad(a.sum(), [x]), torch.autograd.grad(b.sum(), [y])
        assert_same(g, h, 100 * TOLERANCE.get(name, 1e-9))
    assert leaves or name not in ("Normal", "Gamma")


@cases
def test_parameters_get_the_same_gradients(name, parameters):
    inputs = [tensors(backend, parameters, requires_grad=True) for backend in (wg, torch)]
    own, their = getattr(ours, name)(**inputs[0]), getattr(theirs, name)(**inputs[1])
    value = values_of(their)
    own.log_prob(wg.tensor(value)).sum().backward()
    their.log_prob(torch.tensor(value)).sum().backward()
    for key in parameters:
        if isinstance(parameters[key], np.ndarray) and key != "total_count" and inputs[1][key].grad is not None:
            g, h = inputs[0][key].grad, inputs[1][key].grad
            if key in ("covariance_matrix", "precision_matrix", "scale_tril"):  # the part that is not read is free
                g, h = (g + g.mT, h + h.mT) if key != "scale_tril" else (g.tril(), h.tril())
            assert_same(g, h, 1e4 * TOLERANCE.get(name, 1e-11), 1e-9)


def outcome(function):
    try:
        return function()
    except NotImplementedError:
        return None


@cases
@pytest.mark.parametrize("property_", ["mean", "mode", "variance", "stddev"])
def test_moments(name, parameters, property_):
    own, their = pair(name, parameters)
    a, b = outcome(lambda: getattr(own, property_)), outcome(lambda: getattr(their, property_))
    if b is not None and (name, property_) != ("Kumaraswamy", "mode"):  # theirs is NaN
        assert_same(a, b, 10 * TOLERANCE.get(name, 1e-10))


@cases
@pytest.mark.parametrize("method", ["entropy", "perplexity", "enumerate_support"])
def test_methods(name, parameters, method):
    own, their = pair(name, parameters)
    a, b = outcome(getattr(own, method)), outcome(getattr(their, method))
    if b is not None:
        assert_same(a, b)


@cases
def test_cdf_and_icdf(name, parameters):
    own, their = pair(name, parameters)
    value = values_of(their)
    b = outcome(lambda: their.cdf(torch.tensor(value)))
    if b is not None:
        assert_same(own.cdf(wg.tensor(value)), b, 1e-8)
    p = np.linspace(0.01, 0.99, 4)[:, None].repeat(max(1, their.batch_shape.numel()), 1).reshape(4, *their.batch_shape)
    b = outcome(lambda: their.icdf(torch.tensor(p))) if not their.event_shape else None
    if b is not None:
        assert_same(own.icdf(wg.tensor(p)), b, 1e-8)


@cases
def test_shapes(name, parameters):
    own, their = pair(name, parameters)
    for a, b in ((own, their), (own.expand((5, *own.batch_shape)), their.expand((5, *their.batch_shape)))):
        assert (tuple(a.batch_shape), tuple(a.event_shape)) == (tuple(b.batch_shape), tuple(b.event_shape))
        assert (a.has_rsample, a.has_enumerate_support) == (b.has_rsample, b.has_enumerate_support)
        for shape in ((), (2,), (3, 2)):
            assert tuple(a.sample(shape).shape) == tuple(b.sample(shape).shape)
        assert a.sample((0,)).shape == (0, *a.batch_shape, *a.event_shape)
        if a.has_rsample:
            assert tuple(a.rsample((2,)).shape) == tuple(b.rsample((2,)).shape)
        value = values_of(b, (2,))
        assert_same(a.log_prob(wg.tensor(value)), b.log_prob(torch.tensor(value)), TOLERANCE.get(name, 1e-9))
        assert a.support.event_dim == b.support.event_dim
        assert a.support.is_discrete == b.support.is_discrete
        assert type(a).__name__ == type(b).__name__
        if name in (
            "Normal",
            "Exponential",
            "Gamma",
            "Dirichlet",
            "StudentT",
            "MultivariateNormal",
            "Poisson",
            "LogNormal",
        ):
            assert str(a).replace("wengert.", "torch.") == str(
                b
            )  # others show what has been computed since, or nothing
        assert a.support.check(a.sample((3,))).all()


@cases
def test_numbers_of_single_precision(name, parameters):
    own, their = pair(name, parameters)
    own, their = (
        getattr(module, name)(**tensors(backend, parameters, dtype=backend.float32))
        for backend, module in ((wg, ours), (torch, theirs))
    )
    assert own.sample().dtype == (wg.int64 if name == "Categorical" else wg.float32)
    if name == "GeneralizedPareto":
        return  # theirs does not mix dtypes
    value = values_of(their)
    assert own.log_prob(wg.tensor(value)).dtype == wg.float32
    np.testing.assert_allclose(
        own.log_prob(wg.tensor(value)).numpy(), their.log_prob(torch.tensor(value)).numpy(), rtol=2e-3, atol=2e-3
    )


MISTAKES = [
    lambda m, b: m.Normal(0.0, -1.0),
    lambda m, b: m.Normal(b.zeros(2), b.tensor([1.0, float("nan")])),
    lambda m, b: m.Exponential(b.ones(3)).log_prob(b.tensor([-1.0, 2.0, 3.0])),
    lambda m, b: m.Exponential(b.ones(3)).log_prob(b.ones(2)),
    lambda m, b: m.Normal(b.zeros(2), 1.0).log_prob(1.0),
    lambda m, b: m.MultivariateNormal(b.zeros(2), b.eye(2)).log_prob(b.ones(3)),
    lambda m, b: m.MultivariateNormal(b.zeros(2), -b.eye(2)),
    lambda m, b: m.MultivariateNormal(b.zeros(2)),
    lambda m, b: m.Categorical(b.tensor([-1.0, 2.0])),
    lambda m, b: m.Categorical(b.tensor([1.0, 2.0])).log_prob(b.tensor(2)),
    lambda m, b: m.Bernoulli(),
    lambda m, b: m.Bernoulli(0.5, 0.5),
    lambda m, b: m.Uniform(1.0, 1.0),
    lambda m, b: m.Independent(m.Normal(0.0, 1.0), 1),
    lambda m, b: m.TransformedDistribution(m.Normal(0.0, 1.0), [1]),
    lambda m, b: m.Normal(b.zeros(2), b.ones(3)),
    lambda m, b: m.Poisson(1.0).rsample(),
    lambda m, b: m.kl_divergence(m.Poisson(1.0), m.Normal(0.0, 1.0)),
    lambda m, b: m.LKJCholesky(1),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes(mistake):
    with pytest.raises(Exception) as their:  # noqa: PT011  # whichever it is there
        mistake(theirs, torch)
    with pytest.raises(their.type):
        mistake(ours, wg)


def test_helpers():
    own, their = importlib.import_module("wengert.distributions.utils"), theirs.utils
    x = np.random.default_rng(0).uniform(size=(2, 6))
    for diag in (0, -1, -2):
        a, b = own.vec_to_tril_matrix(wg.tensor(x), diag), their.vec_to_tril_matrix(torch.tensor(x), diag)
        assert_same(a, b)
        assert_same(own.tril_matrix_to_vec(a, diag), their.tril_matrix_to_vec(b, diag))
    for name, options in itertools.product(["probs_to_logits", "logits_to_probs"], [(), (True,)]):
        assert_same(getattr(own, name)(wg.tensor(x), *options), getattr(their, name)(torch.tensor(x), *options))
    assert_same(own.clamp_probs(wg.tensor([0.0, 0.5, 1.0])), their.clamp_probs(torch.tensor([0.0, 0.5, 1.0])))
    for a, b in zip(own.broadcast_all(wg.ones(2), 1.5), their.broadcast_all(torch.ones(2), 1.5), strict=True):
        assert_same(a, b)
