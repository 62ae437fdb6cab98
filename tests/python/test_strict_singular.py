"""Strict mode of the chain rule: 0 times a singular derivative is NaN."""

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import forward_ad, grad, is_strict_singular, set_strict_singular


@pytest.fixture(autouse=True)
def _usual():
    yield
    set_strict_singular(False)


def masked_root(x):
    return wg.where(x > 0, wg.sqrt(x), 0).sum()


@pytest.mark.parametrize("create_graph", [False, True])
def test_masked_singularity_shows(create_graph):
    x = wg.tensor([0.0, 4.0], requires_grad=True)
    np.testing.assert_array_equal(grad(masked_root(x), x, create_graph=create_graph)[0].detach().numpy(), [0, 0.25])
    with set_strict_singular(True):
        g = grad(masked_root(x), x, create_graph=create_graph)[0].detach().numpy()
    np.testing.assert_array_equal(g, [np.nan, 0.25])


def test_tangents_are_strict_too():
    x = wg.tensor([0.0, 4.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, wg.tensor([0.0, 1.0]))
        np.testing.assert_array_equal(forward_ad.unpack_dual(wg.sqrt(dual)).tangent.numpy(), [0, 0.25])
        with set_strict_singular(True):
            np.testing.assert_array_equal(forward_ad.unpack_dual(wg.sqrt(dual)).tangent.numpy(), [np.nan, 0.25])


def test_finite_derivatives_do_not_change():
    x = wg.tensor([0.5, 2.0], dtype=wg.float64, requires_grad=True)

    def gradient():
        return grad((wg.exp(x) * wg.sin(x) / x).sum(), x)[0].numpy()

    usual = gradient()
    with set_strict_singular(True):
        np.testing.assert_allclose(gradient(), usual, rtol=1e-14)


def test_switch_as_function_context_and_decorator():
    assert not is_strict_singular()
    set_strict_singular(True)
    assert is_strict_singular()
    with set_strict_singular(False):
        assert not is_strict_singular()
    assert is_strict_singular()
    set_strict_singular(False)

    @set_strict_singular(True)
    def inside():
        return is_strict_singular()

    assert inside()
    assert not is_strict_singular()


def test_switch_takes_bools_only():
    with pytest.raises(TypeError, match="must be bool"):
        set_strict_singular(1)
