"""Densities, distribution functions, entropies, moments against SciPy's and against quadrature; their derivatives."""

import math

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

import wengert as wg
from tests.python.distributions.families import CONTINUOUS, DISCRETE, ROWS, VECTORS, t
from wengert import distributions as D  # noqa: N812

BY_NAME = {row.name: row for row in ROWS}


def named(rows):
    return [row.name for row in rows]


def close(actual, expected, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(np.asarray(actual.detach()), expected, rtol=rtol, atol=atol)


def missing(function):
    try:
        return function() is None
    except NotImplementedError:
        return True


@pytest.mark.parametrize("name", named(r for r in ROWS if r.reference))
def test_log_prob(name):
    row = BY_NAME[name]
    value = row.values.numpy()
    expected = getattr(row.reference, "logpmf" if row in DISCRETE or name == "Multinomial" else "logpdf")(value)
    close(row().log_prob(row.values), expected)


@pytest.mark.parametrize("name", named(r for r in CONTINUOUS if r.reference))
def test_cdf_and_icdf(name):
    row = BY_NAME[name]
    d = row()
    probabilities = t([1e-12, 0.3, 0.5, 0.99])
    if not missing(lambda: d.cdf(row.values)):
        close(d.cdf(row.values), row.reference.cdf(row.values.numpy()), 1e-9)
    if not missing(lambda: d.icdf(probabilities)):
        close(d.icdf(probabilities), row.reference.ppf(probabilities.numpy()), 1e-9, 1e-9)
        inside = probabilities[1:]
        close(d.cdf(d.icdf(inside)), inside.numpy(), 1e-9)


@pytest.mark.parametrize("name", named(CONTINUOUS))
def test_density_is_the_derivative_of_the_distribution_function(name):
    row = BY_NAME[name]
    d = row()
    x = row.values[1:2]
    if missing(lambda: d.cdf(x)):
        return
    (slope,) = wg.autograd.grad(d.cdf(y := x.clone().requires_grad_()).sum(), [y])
    close(slope, d.log_prob(x).exp().numpy(), 1e-8)


@pytest.mark.parametrize("name", named(r for r in ROWS if r.reference))
def test_entropy(name):
    row = BY_NAME[name]
    if missing(row().entropy) or name.startswith("VonMises"):
        return
    close(row().entropy(), row.reference.entropy(), 1e-8, 1e-9)


@pytest.mark.parametrize("name", named(r for r in CONTINUOUS + DISCRETE if r.reference and "VonMises" not in r.name))
def test_moments(name):
    row = BY_NAME[name]
    mean, variance = row.reference.stats("mv")
    if not math.isnan(mean):  # SciPy knows no mean where it is infinite
        close(row().mean, mean, 1e-9, 1e-9)
        close(row().variance, variance, 1e-9, 1e-9)
        close(row().stddev, math.sqrt(variance), 1e-9, 1e-9)


@pytest.mark.parametrize("name", ["Kumaraswamy", "ContinuousBernoulli", "RelaxedBernoulli", "VonMises", "Beta"])
def test_integrals(name):
    """The density integrates to 1, and moments and entropy are its integrals."""
    d = BY_NAME[name]()
    low, high = (-math.pi, math.pi) if name == "VonMises" else (0, 1)

    def integral(f):
        return integrate.quad(lambda x: math.exp(d.log_prob(t(x))) * f(x), low, high, limit=200)[0]

    assert integral(lambda x: 1) == pytest.approx(1, rel=1e-7)
    if name != "VonMises" and not missing(lambda: d.mean):
        mean = integral(lambda x: x)
        close(d.mean, mean, 1e-7)
        close(d.variance, integral(lambda x: (x - mean) ** 2), 1e-6)
    if not missing(d.entropy):
        close(d.entropy(), integral(lambda x: -float(d.log_prob(t(x)))), 1e-6)


@pytest.mark.parametrize("name", ["Bernoulli", "Binomial", "NegativeBinomial", "Geometric", "Poisson"])
def test_sums(name):
    probabilities = BY_NAME[name]().log_prob
    values = wg.arange(2 if name == "Bernoulli" else 8 if name == "Binomial" else 400, dtype=wg.float64)
    close(probabilities(values).exp().sum(), 1.0)


@pytest.mark.parametrize("name", named(ROWS))
def test_derivatives_of_log_prob(name):
    row = BY_NAME[name]
    if row.values is None:
        return
    # Away from the ends of the support; matrices and vectors of the support by the part that is free.
    value = row.values[1:2] if row in CONTINUOUS else row.values
    parameters = [p.clone().requires_grad_() for p in row.parameters]

    def log_prob(*inputs):
        inputs = [(p + p.mT) / 2 if p.dim() == 2 and p.size(0) == p.size(1) else p for p in inputs]
        return row.make(*inputs).log_prob(value)

    assert wg.autograd.gradcheck(log_prob, parameters)
    if name not in ("Wishart", "Multinomial"):
        assert wg.autograd.gradgradcheck(log_prob, parameters, rtol=1e-4, atol=1e-5)
    if row in CONTINUOUS:
        point = value.clone().requires_grad_()
        assert wg.autograd.gradcheck(lambda x: row().log_prob(x), [point])


@pytest.mark.parametrize("name", named(r for r in CONTINUOUS + DISCRETE + VECTORS if r.name != "Poisson"))
def test_derivatives_of_entropy_and_moments(name):
    row = BY_NAME[name]
    parameters = [p.clone().requires_grad_() for p in row.parameters]
    for ask in (lambda d: d.entropy(), lambda d: d.variance):
        if not missing(lambda ask=ask: ask(row())) and not ask(row()).isnan().any():
            assert wg.autograd.gradcheck(
                lambda *inputs, ask=ask: ask(row.make(*[(p + p.mT) / 2 if p.dim() == 2 and p.size(0) == p.size(1)
                                                        else p for p in inputs])), parameters
            )  # fmt: skip


# --- Digits in the tails and where formulas cancel
mpmath.mp.dps = 50
MILLION = mpmath.mpf(10) ** 6
HARD = {
    "normal, far": (D.Normal(t(0.0), t(1.0)).cdf, -37.0, lambda x: mpmath.ncdf(x)),
    "cauchy, far": (D.Cauchy(t(0.0), t(1.0)).cdf, -1e15, lambda x: mpmath.atan(-1 / x) / mpmath.pi),
    "laplace, far": (D.Laplace(t(0.0), t(1.0)).cdf, -50.0, lambda x: mpmath.exp(x) / 2),
    "exponential, near": (D.Exponential(t(1.0)).cdf, 1e-20, lambda x: -mpmath.expm1(-x)),
    "half normal, near": (D.HalfNormal(t(1.0)).cdf, 1e-20, lambda x: mpmath.erf(x / mpmath.sqrt(2))),
    "pareto, near": (D.Pareto(t(1.0), t(2.0)).cdf, 1 + 2**-40, lambda x: 1 - x**-2),
    "kumaraswamy, near 1": (
        D.Kumaraswamy(t(2.0), t(3.0)).log_prob, 1 - 2**-50,
        lambda x: mpmath.log(6 * x) + 2 * mpmath.log(1 - x**2),
    ),
    "von mises, concentrated": (
        D.VonMises(t(0.0), t(1e6)).log_prob, 1e-3,
        lambda x: MILLION * mpmath.cos(x) - mpmath.log(2 * mpmath.pi * mpmath.besseli(0, MILLION)),
    ),
    "bernoulli, sure": (D.Bernoulli(logits=t(40.0)).log_prob, 1.0, lambda x: -mpmath.log1p(mpmath.exp(-40))),
    "continuous bernoulli, flat": (
        D.ContinuousBernoulli(logits=t(1e-7)).log_prob, 0.9,
        lambda x: mpmath.log(mpmath.mpf(1e-7)) + x * mpmath.mpf(1e-7) - mpmath.log(mpmath.expm1(mpmath.mpf(1e-7))),
    ),
    "continuous bernoulli, steep": (
        D.ContinuousBernoulli(logits=t(2000.0)).cdf, 0.99,
        lambda x: mpmath.expm1(2000 * x) / mpmath.expm1(2000),
    ),
    "generalized pareto, flat": (
        D.GeneralizedPareto(t(0.0), t(1.0), t(1e-12)).log_prob, 2.0,
        lambda x: -(1 / mpmath.mpf(1e-12) + 1) * mpmath.log1p(mpmath.mpf(1e-12) * x),
    ),
    "geometric, rare": (D.Geometric(t(1e-18)).log_prob, 3.0, lambda x: mpmath.log(mpmath.mpf(1e-18)) - x / 10**18),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_digits(name):
    function, value, exact = HARD[name]
    assert float(function(t(value))) == pytest.approx(float(exact(mpmath.mpf(value))), rel=2e-13)


@pytest.mark.parametrize("logit", [0.0, 1e-9, -1e-4, 0.1, 0.39, 0.41, -3.0, 50.0])
def test_continuous_bernoulli_everywhere(logit):
    """Its mean and variance are derivatives of the normalizer, across the boundary of the series as well."""
    x = mpmath.mpf(logit)
    f = lambda l: mpmath.log(mpmath.expm1(l) / l) if l else mpmath.mpf(0)  # noqa: E731, E741
    with mpmath.workdps(60):
        mean, variance = (mpmath.diff(f, x + mpmath.mpf(10) ** -30, n) for n in (1, 2))
    d = D.ContinuousBernoulli(logits=t(logit))
    assert float(d.mean) == pytest.approx(float(mean), rel=1e-11)
    assert float(d.variance) == pytest.approx(float(variance), rel=1e-9)
    close(d.icdf(d.cdf(t(0.3))), 0.3, 1e-9)


def test_certain_events_are_exact():
    zero, one = t(0.0), t(1.0)
    assert D.Bernoulli(one).log_prob(one) == 0
    assert D.Bernoulli(one).log_prob(zero) == -math.inf
    assert D.Bernoulli(zero).entropy() == 0
    assert D.Categorical(t(1.0, 0.0)).entropy() == 0
    assert D.Categorical(t(1.0, 0.0)).log_prob(wg.tensor(1)) == -math.inf
    assert D.Binomial(3, zero).log_prob(zero) == 0
    assert D.Binomial(3, one).entropy() == 0
    assert D.Poisson(zero).log_prob(zero) == 0
    assert D.Geometric(one).log_prob(zero) == 0
    assert D.Multinomial(2, t(1.0, 0.0)).log_prob(t(2.0, 0.0)) == 0
    assert D.Dirichlet(t(1.0, 1.0)).log_prob(t(1.0, 0.0)) == 0
    assert D.NegativeBinomial(zero, t(0.5)).log_prob(zero) == 0


def test_gradients_at_the_ends_are_finite():
    p = t(0.0, 1.0).requires_grad_()
    D.Bernoulli(p).log_prob(t(0.0, 1.0)).sum().backward()
    assert p.grad.tolist() == [-1.0, 1.0]
    logits = t(0.0, -math.inf).requires_grad_()
    D.Categorical(logits=logits, validate_args=False).log_prob(wg.tensor(0)).backward()
    assert logits.grad.tolist() == [0.0, 0.0]


def test_mixture_against_the_sum_of_its_parts():
    d = D.MixtureSameFamily(D.Categorical(t(0.3, 0.7)), D.Normal(t(-1.0, 2.0), t(1.0, 0.5)))
    x = np.linspace(-4, 4, 9)
    parts = [(0.3, stats.norm(-1, 1)), (0.7, stats.norm(2, 0.5))]
    close(d.log_prob(t(x.tolist())), np.log(sum(w * part.pdf(x) for w, part in parts)))
    close(d.cdf(t(x.tolist())), sum(w * part.cdf(x) for w, part in parts))
    close(d.mean, 1.1)
    close(d.variance, 0.3 * (1 + 1) + 0.7 * (0.25 + 4) - 1.1**2)


@pytest.mark.parametrize("concentration", [0.5, 1.0, 3.0])
def test_lkj_is_a_density(concentration):
    """In two dimensions there is one correlation r, and p(L) dL = p(r) dr with the second row (r, sqrt(1 - r**2))."""
    d = D.LKJCholesky(2, t(concentration))

    def density(r):
        return math.exp(d.log_prob(t([[1.0, 0.0], [r, math.sqrt(1 - r * r)]])))

    assert integrate.quad(density, -1, 1)[0] == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if isinstance(r(), D.ExponentialFamily) and r.name not in ("Poisson",)],
    ids=lambda r: r.name,
)
def test_entropy_by_the_normalizer(row):
    """What the base class derives from the natural parameters is what families state directly."""
    rtol = 1e-8 if row.name in ("Wishart", "Gamma of 1000") else 1e-10  # a difference of large numbers there
    close(D.ExponentialFamily.entropy(row()), row().entropy().detach().numpy(), rtol)
