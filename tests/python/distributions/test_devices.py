"""Parameters on a device: samples, densities, moments and their gradients are those of the CPU, and stay there."""

import pytest

import wengert as wg
from tests.python.distributions.families import COMPOSED, ROWS
from wengert import distributions as D  # noqa: N812

QUANTITIES = {
    "log_prob": lambda d, x: d.log_prob(x),
    "entropy": lambda d, x: d.entropy(),
    "mean": lambda d, x: d.mean,
    "variance": lambda d, x: d.variance,
    "mode": lambda d, x: d.mode,
    "cdf": lambda d, x: d.cdf(x),
    "quantiles": lambda d, x: d.icdf(wg.full_like(x, 0.3)),
    "values": lambda d, x: d.enumerate_support(),
    "divergence": lambda d, x: D.kl_divergence(d, d),
}


def computed(row, device):
    """Return samples, what a distribution knows of them, and the gradients of each, with parameters on a device."""
    wg.manual_seed(7)
    parameters = [p.detach().to(device, copy=True).requires_grad_() for p in row.parameters]
    d = row.make(*parameters)
    drawn = d.rsample((4,)) if d.has_rsample else d.sample((4,))
    found = {"sample": drawn}
    for name, quantity in QUANTITIES.items():
        try:
            found[name] = quantity(d, drawn.detach())
        except NotImplementedError:
            continue
    for name in [name for name, value in found.items() if value.requires_grad]:
        gradients = wg.autograd.grad(found[name].sum(), parameters, allow_unused=True, retain_graph=True)
        found |= {f"gradient {i} of {name}": g for i, g in enumerate(gradients) if g is not None}
    return found


@pytest.fixture
def default_device():
    before = wg.get_default_device()
    yield wg.set_default_device
    wg.set_default_device(before)


families = pytest.mark.parametrize("row", ROWS + COMPOSED, ids=lambda row: row.name)


@families
def test_as_on_the_cpu(row):
    actual, expected = computed(row, "sim:0"), computed(row, "cpu")
    assert {value.device for value in actual.values()} == {wg.device("sim:0")}
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        wg.testing.assert_close(actual[name].cpu(), value, rtol=0, atol=0, equal_nan=True)


@families
def test_parameters_say_where_and_not_the_default_device(row, default_device):
    default_device("sim")
    assert {value.device for value in computed(row, "cpu").values()} == {wg.device("cpu")}


def test_numbers_go_where_the_tensors_are(default_device):
    assert D.Gamma(wg.ones(2, device="sim:0"), 1.0).sample().device == wg.device("sim:0")
    default_device("sim")
    assert D.Gamma(wg.ones(2, device="cpu"), 1.0).sample().device == wg.device("cpu")
    assert D.Gamma(1.0, 1.0).sample().device == wg.device("sim:0")
