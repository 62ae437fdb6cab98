"""Families beside PyTorch's over 50 draws of their parameters and of a value: densities, entropies, distribution
functions, their gradients, gradients of samples, divergences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.differential.test_distributions import (  # noqa: F401
    CASES,
    IDS,
    TOLERANCE,
    assert_same,
    in_double,
    outcome,
    tensors,
)
from tests.differential.test_distributions_divergences import KL_PAIRS, examples_of
from wengert import distributions as ours

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Singular sample")
theirs = torch.distributions

DRAWS = 50
ROUGHLY = {**TOLERANCE, "VonMises": 1e-5}
NOT_DRAWN = {  # names that are no family of their own
    **dict.fromkeys(("Distribution", "ExponentialFamily"), "a base of others"),
    **dict.fromkeys(("Independent", "MixtureSameFamily", "TransformedDistribution"), "test_distributions_composed.py"),
    "TransformedDistribution": "test_distributions_composed.py",
}


def drawn(name: str, parameters: dict[str, Any], rng: Any) -> dict[str, Any]:
    """Parameters near the given ones that keep to their constraints; numbers and other objects stay."""
    constraints = getattr(theirs, name)(**tensors(torch, parameters)).arg_constraints
    found = {}
    for key, value in parameters.items():
        if not isinstance(value, np.ndarray):
            found[key] = value
        elif key == "total_count":
            found[key] = rng.integers(1, 8, value.shape).astype(float)
        elif name == "Uniform":
            found[key] = value + (-1 if key == "low" else 1) * rng.uniform(size=value.shape)
        elif name == "Wishart" and key == "df":
            found[key] = value + rng.uniform(size=value.shape)
        else:
            free = theirs.transform_to(constraints.get(key, theirs.constraints.positive))  # temperatures
            unconstrained = free.inv(torch.tensor(value)).numpy()
            found[key] = free(torch.tensor(unconstrained + 0.3 * rng.standard_normal(unconstrained.shape))).numpy()
    return found


def draws(name: str, parameters: dict[str, Any]) -> Any:
    """Pairs of distributions with the tensors that are their parameters."""
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        given = drawn(name, parameters, rng)
        both = []
        for backend, module in ((wg, ours), (torch, theirs)):
            made = tensors(backend, given, requires_grad=True)
            if "total_count" in made and isinstance(made["total_count"], backend.Tensor):
                made["total_count"] = made["total_count"].detach()
            both += [
                getattr(module, name)(**made),
                {k: v for k, v in made.items() if getattr(v, "requires_grad", False)},
            ]
        yield both


def assert_same_gradients(own: Any, their: Any, inputs: list[Any], rtol: float, atol: float) -> None:
    """Of the sum of a result by the parameters; of matrices that are read in part the rest may be anything."""
    if not their.requires_grad:
        return
    found = wg.autograd.grad(own.sum(), list(inputs[0].values()), allow_unused=True)
    expected = torch.autograd.grad(their.sum(), list(inputs[1].values()), allow_unused=True)
    for key, g, h in zip(inputs[1], found, expected, strict=True):
        if h is None:
            continue
        if key in ("covariance_matrix", "precision_matrix"):
            g, h = g + g.mT, h + h.mT
        elif key == "scale_tril":
            g, h = g.tril(), h.tril()
        assert_same(g, h, rtol, atol)


cases = pytest.mark.parametrize(("name", "parameters"), CASES, ids=IDS)


@cases
def test_densities_and_entropies(name: str, parameters: dict[str, Any]) -> None:
    tolerance = ROUGHLY.get(name, 1e-9)
    torch.manual_seed(0)
    for own, ours_given, their, theirs_given in draws(name, parameters):
        value = their.sample((1,)).detach().numpy()
        a, b = own.log_prob(wg.tensor(value)), their.log_prob(torch.tensor(value))
        assert_same(a, b, tolerance, 1e-9)
        assert_same_gradients(a, b, [ours_given, theirs_given], 1e3 * tolerance, 1e-8)
        entropies = outcome(own.entropy), outcome(their.entropy)
        if entropies[1] is not None:
            assert_same(*entropies, tolerance, 1e-9)


@cases
def test_distribution_functions(name: str, parameters: dict[str, Any]) -> None:
    torch.manual_seed(0)
    for own, _, their, _ in draws(name, parameters):
        value = their.sample((1,)).detach().numpy()
        b = outcome(lambda their=their, value=value: their.cdf(torch.tensor(value)))
        if b is not None:
            assert_same(own.cdf(wg.tensor(value)), b, 1e-8, 1e-9)
        if their.event_shape:
            continue
        p = np.random.default_rng(1).uniform(0.01, 0.99, tuple(their.batch_shape))
        b = outcome(lambda their=their, p=p: their.icdf(torch.tensor(p)))
        if b is not None:
            assert_same(own.icdf(wg.tensor(p)), b, 1e-8, 1e-9)


@pytest.mark.parametrize(("p", "q"), KL_PAIRS, ids=["-".join(pair) for pair in KL_PAIRS])
def test_divergences(p: str, q: str) -> None:
    if not examples_of(p) or not examples_of(q):
        assert {p, q} & {"ExponentialFamily", *NOT_DRAWN}
        return
    for first, second in itertools.zip_longest(draws(p, examples_of(p)[0]), draws(q, examples_of(q)[-1])):
        try:
            expected = theirs.kl_divergence(first[2], second[2])
        except (NotImplementedError, RuntimeError, ValueError):  # batches that it does not broadcast, other counts
            continue
        assert_same(ours.kl_divergence(first[0], second[0]), expected, 1e-6, 1e-8)


# --- Samples. Where they are a monotonous function of one number, x = F^-1(u), the derivative of x by a parameter is
# that of -F divided by the density, whatever way the number is drawn: both come from PyTorch, at a sample of ours.
BY_DISTRIBUTION_FUNCTION = (
    "Normal", "LogNormal", "HalfNormal", "Cauchy", "HalfCauchy", "Laplace", "Gumbel", "Exponential", "Kumaraswamy",
    "Pareto", "GeneralizedPareto", "Weibull", "Uniform", "ContinuousBernoulli",
)  # fmt: skip
BY_FUNCTIONS_OF_THEIR_OWN = ("Gamma", "InverseGamma", "Chi2", "MultivariateNormal")
BY_EXPECTATIONS = {  # tests/python/distributions/test_samples.py differentiates means of samples of these
    **dict.fromkeys(("Beta", "Dirichlet", "StudentT", "FisherSnedecor"), "quotients: what is held fixed is free"),
    **dict.fromkeys(("LowRankMultivariateNormal", "Wishart"), "made of more numbers than they have"),
    **dict.fromkeys(
        ("LogisticNormal", "RelaxedBernoulli", "RelaxedOneHotCategorical"), "transformed samples of others"
    ),
    "OneHotCategoricalStraightThrough": "the gradient is that of the probabilities",
}


def test_every_family_and_every_way_to_draw() -> None:
    families = {n for n in theirs.__all__ if isinstance(getattr(theirs, n), type) and n[0].isupper()}
    families = {n for n in families if issubclass(getattr(theirs, n), theirs.Distribution)}
    assert families - {name for name, _ in CASES} == set(NOT_DRAWN)
    drawn_smoothly = {n for n, _ in CASES if getattr(theirs, n).has_rsample}
    assert drawn_smoothly == {*BY_DISTRIBUTION_FUNCTION, *BY_FUNCTIONS_OF_THEIR_OWN, *BY_EXPECTATIONS}


def sample_gradients(x: Any, given: dict[str, Any]) -> list[Any]:
    found = wg.autograd.grad(x.sum(), list(given.values()), allow_unused=True)
    return [None if g is None else g.numpy() for g in found]


@pytest.mark.parametrize("name", BY_DISTRIBUTION_FUNCTION)
def test_gradients_of_samples(name: str) -> None:
    parameters = next(p for n, p in CASES if n == name)
    for own, ours_given, their, theirs_given in draws(name, parameters):
        x = own.rsample()
        at = torch.tensor(x.detach().numpy())
        shares = their.cdf(at) / -their.log_prob(at).exp().detach()
        expected = torch.autograd.grad(shares.sum(), list(theirs_given.values()), allow_unused=True)
        for g, h in zip(sample_gradients(x, ours_given), expected, strict=True):
            np.testing.assert_allclose(g, h.numpy(), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", BY_FUNCTIONS_OF_THEIR_OWN)
def test_gradients_of_samples_by_functions_of_their_own(name: str) -> None:
    parameters = next(p for n, p in CASES if n == name)
    for own, ours_given, _, theirs_given in draws(name, parameters):
        x = own.rsample()
        again = BY_NAME[name](torch.tensor(x.detach().numpy()), **theirs_given)
        np.testing.assert_allclose(again.detach().numpy(), x.detach().numpy(), rtol=1e-8)
        expected = torch.autograd.grad(again.sum(), list(theirs_given.values()))
        for key, g, h in zip(theirs_given, sample_gradients(x, ours_given), expected, strict=True):
            if key == "covariance_matrix":
                g, h = g + g.T, h + h.mT
            np.testing.assert_allclose(g, h.numpy(), rtol=2e-3, atol=1e-7)  # PyTorch's is an approximation


class _Gamma(torch.autograd.Function):
    """A sample of the standard gamma distribution that is there already, as a function of the shape."""

    @staticmethod
    def forward(ctx: Any, sample: Any, shape: Any) -> Any:
        ctx.save_for_backward(sample, shape)
        return sample.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        sample, shape = ctx.saved_tensors
        return None, grad * torch._standard_gamma_grad(shape, sample)


def _normal(x: Any, loc: Any, covariance_matrix: Any) -> Any:
    factor = torch.linalg.cholesky(covariance_matrix)
    noise = torch.linalg.solve_triangular(factor.detach(), (x - loc.detach())[..., None], upper=False)
    return loc + (factor @ noise)[..., 0]


BY_NAME: dict[str, Any] = {
    "Gamma": lambda x, concentration, rate: _Gamma.apply(x * rate.detach(), concentration) / rate,
    "InverseGamma": lambda x, concentration, rate: rate / _Gamma.apply(rate.detach() / x, concentration),
    "Chi2": lambda x, df: _Gamma.apply(x / 2, df / 2) * 2,
    "MultivariateNormal": _normal,
}
