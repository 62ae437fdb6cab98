"""Random numbers: reproducible, of the right distribution, and safe for autograd."""

import math

import numpy as np
import pytest

import wengert as wg

N = 20_000


@pytest.fixture(autouse=True)
def _seed():
    wg.manual_seed(0)


def normal_cdf(x):
    return np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x])


# A sampler of N numbers and its cumulative distribution.
CONTINUOUS = {
    "rand": (lambda: wg.rand(N), lambda x: x),
    "randn": (lambda: wg.randn(N, dtype=wg.float64), normal_cdf),
    "uniform_": (lambda: wg.empty(N).uniform_(-1, 3), lambda x: (x + 1) / 4),
    "normal_": (lambda: wg.empty(N).normal_(2, 3), lambda x: normal_cdf((x - 2) / 3)),
    "exponential_": (lambda: wg.empty(N).exponential_(2), lambda x: 1 - np.exp(-2 * x)),
    "cauchy_": (lambda: wg.empty(N).cauchy_(1, 2), lambda x: 0.5 + np.arctan((x - 1) / 2) / np.pi),
    "log_normal_": (lambda: wg.empty(N).log_normal_(0, 1), lambda x: normal_cdf(np.log(x))),
    "normal": (lambda: wg.normal(wg.full((N,), 1.0), 2.0), lambda x: normal_cdf((x - 1) / 2)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name):
    sample, cdf = CONTINUOUS[name]
    values = np.sort(sample().numpy().astype(np.float64))
    distance = np.abs(cdf(values) - (np.arange(N) + 0.5) / N).max()
    assert distance * math.sqrt(N) < 2.2  # Kolmogorov: exceeded once in 16,000 seeds


@pytest.mark.parametrize(
    ("sample", "probabilities"),
    [
        (lambda: wg.randint(3, (N,)), [1 / 3] * 3),
        (lambda: wg.randint(-1, 1, (N,)) + 1, [1 / 2] * 2),
        (lambda: wg.empty(N).random_(0, 4), [1 / 4] * 4),
        (lambda: wg.bernoulli(wg.full((N,), 0.2)), [0.8, 0.2]),
        (lambda: wg.zeros(N).bernoulli_(0.7), [0.3, 0.7]),
        (lambda: wg.empty(N).geometric_(0.5).clamp(max=3) - 1, [0.5, 0.25, 0.25]),
        (lambda: wg.multinomial(wg.tensor([1.0, 0.0, 3.0]), N, replacement=True), [0.25, 0, 0.75]),
    ],
)
def test_discrete_distribution(sample, probabilities):
    counts = np.bincount(sample().numpy().astype(int), minlength=len(probabilities))
    assert len(counts) == len(probabilities)
    np.testing.assert_allclose(counts / N, probabilities, atol=5 / math.sqrt(N))


def test_seeds_reproduce():
    first = wg.rand(5)
    assert wg.manual_seed(0) is wg.default_generator
    assert wg.rand(5).tolist() == first.tolist()
    assert wg.initial_seed() == 0
    state = wg.get_rng_state()
    again = wg.randn(3)
    wg.set_rng_state(state)
    assert wg.randn(3).tolist() == again.tolist()
    wg.manual_seed(-1)
    assert wg.seed() == wg.initial_seed()


def test_own_generators_do_not_disturb_the_default_one():
    expected = wg.rand(3).tolist()
    wg.manual_seed(0)
    generator = wg.Generator().manual_seed(7)
    own = wg.rand(3, generator=generator)
    assert wg.rand(3).tolist() == expected
    assert wg.rand(3, generator=wg.Generator().manual_seed(7)).tolist() == own.tolist()


def test_permutations():
    p = wg.randperm(100)
    assert sorted(p.tolist()) == list(range(100))
    assert p.tolist() != list(range(100))
    rows = wg.multinomial(wg.ones(4, 5), 5)
    assert [sorted(row) for row in rows.tolist()] == [list(range(5))] * 4


def test_options():
    x = wg.rand(2, 3, dtype=wg.float64, requires_grad=True)
    assert (x.shape, x.dtype, x.requires_grad) == ((2, 3), wg.float64, True)
    assert wg.rand_like(x).dtype is wg.float64
    assert wg.randint_like(x, 5).shape == x.shape
    assert wg.randn(2, dtype=wg.complex64).dtype is wg.complex64


def test_filling_in_place_is_an_in_place_operation():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        wg.ones(2, requires_grad=True).normal_()
    x = wg.ones(2, requires_grad=True)
    y = x * 2
    y.uniform_()
    assert y._version == 1
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]
    z = wg.zeros(3, 2).T
    z.uniform_()
    assert (z > 0).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: wg.empty(1).uniform_(1, 0),
        lambda: wg.empty(1).normal_(0, -1),
        lambda: wg.randint(0, 0, (1,)),
        lambda: wg.bernoulli(wg.tensor([1.5])),
        lambda: wg.multinomial(wg.tensor([0.0, 0.0]), 1),
        lambda: wg.multinomial(wg.tensor([1.0]), 2),
        lambda: wg.empty(1, dtype=wg.int64).uniform_(),
    ],
)
def test_wrong_parameters(call):
    with pytest.raises(RuntimeError):
        call()


def test_poisson():
    wg.manual_seed(0)
    rates = wg.tensor([0.0, 0.5, 20.0], dtype=wg.float64, requires_grad=True)
    counts = wg.poisson(rates.expand(4000, 3))
    assert not counts.requires_grad
    np.testing.assert_allclose(counts.mean(0).numpy(), [0, 0.5, 20], rtol=0.05)
    np.testing.assert_allclose(counts.var(0).numpy(), [0, 0.5, 20], rtol=0.1)
    first, second = (wg.poisson(rates, wg.Generator().manual_seed(3)) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert wg.poisson(wg.tensor([-1.0])).isnan().all()
