"""What real numbers had alone in complex form: by definition, and by difference quotients in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import gradcheck, gradgradcheck

F = wg.nn.functional
RNG = np.random.default_rng(0)
Z, Y = (RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3)) for _ in range(2))


def sigmoid(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


FORMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "logaddexp": (lambda z, y: wg.logaddexp(z, y), lambda z, y: np.log(np.exp(z) + np.exp(y))),
    "ldexp": (lambda z, y: wg.ldexp(z, y), lambda z, y: z * np.exp2(y)),
    "silu": (lambda z, y: F.silu(z), lambda z, y: z * sigmoid(z)),
    "softsign": (lambda z, y: F.softsign(z), lambda z, y: z / (1 + abs(z))),
    "tanhshrink": (lambda z, y: F.tanhshrink(z), lambda z, y: z - np.tanh(z)),
    "sinc": (lambda z, y: wg.sinc(z), lambda z, y: np.sin(np.pi * z) / (np.pi * z)),
    "nan_to_num": (lambda z, y: wg.nan_to_num(z), lambda z, y: z),
    "rms_norm": (
        lambda z, y: F.rms_norm(z, (3,), eps=0.1),
        lambda z, y: z / np.sqrt((z * z).mean(1, keepdims=True) + 0.1),
    ),
    "pairwise_distance": (
        lambda z, y: F.pairwise_distance(z, y, eps=0.1),
        lambda z, y: np.sqrt((abs(z - y + 0.1) ** 2).sum(1)),
    ),
    "triplet_margin_loss": (
        lambda z, y: F.triplet_margin_loss(z, y, z * y, eps=0.0, reduction="none"),
        lambda z, y: np.maximum(np.linalg.norm(z - y, axis=1) - np.linalg.norm(z - z * y, axis=1) + 1, 0),
    ),
    "cov": (lambda z, y: wg.cov(z), lambda z, y: np.cov(z)),
    "logcumsumexp": (lambda z, y: wg.logcumsumexp(z, 1).exp(), lambda z, y: np.cumsum(np.exp(z), 1)),
}


@pytest.mark.parametrize("name", FORMS)
def test_complex_form(name: str) -> None:
    ours, definition = FORMS[name]
    z, y = wg.tensor(Z, requires_grad=True), wg.tensor(Y, requires_grad=True)
    result, want = ours(z, y), definition(Z, Y)
    assert result.is_complex() == np.iscomplexobj(want)
    np.testing.assert_allclose(result.detach().numpy(), want, rtol=1e-12, atol=1e-14)
    assert gradcheck(ours, (z, y), check_forward_ad=True)
    assert gradgradcheck(ours, (z, y))


def test_sinc_at_zero() -> None:
    """A series, not a quotient of small numbers."""
    z = wg.tensor([0j, 1e-9 + 1e-9j], dtype=wg.complex128, requires_grad=True)
    y = wg.sinc(z)
    (first,) = wg.autograd.grad(y.real.sum(), z, create_graph=True)
    (second,) = wg.autograd.grad(first.real.sum(), z)
    np.testing.assert_allclose(y.detach().numpy(), 1, rtol=1e-16, atol=1e-16)
    np.testing.assert_allclose(first.detach().numpy(), -(np.pi**2) / 3 * z.detach().numpy().conj(), rtol=1e-12)
    np.testing.assert_allclose(second.numpy(), -(np.pi**2) / 3, rtol=1e-12)


def test_logaddexp_far_away() -> None:
    z = wg.tensor([1000 + 1j, -1000 + 1j], dtype=wg.complex128)
    assert wg.logaddexp(z, z.flip(0)).tolist() == [1000 + 1j, 1000 + 1j]
    infinite = wg.tensor(complex(-np.inf, 0), dtype=wg.complex128)
    assert wg.logaddexp(infinite, infinite).real.item() == -np.inf


def test_nan_to_num_replaces_parts() -> None:
    z = wg.tensor([complex(np.nan, np.inf)], dtype=wg.complex128)
    assert wg.nan_to_num(z, 1.0, 2.0).tolist() == [1 + 2j]
