"""The variance of equal numbers is exactly 0 and their mean is the number, whatever the layout.

So they are 0 once normalised, and what a large mean leaves of other numbers is not lost either.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import grad

DTYPES = [np.float32, np.float64]
NUMBERS = [0.1, 1 / 3, 1e8 + 0.1, 1e-12, 7.0]


def layouts(a: np.ndarray) -> dict[str, tuple[Any, Any]]:
    """The same numbers along a dimension that is last, first, in the middle, strided, and along two dimensions."""
    return {
        "row": (wg.tensor(a), None),
        "last": (wg.tensor(np.tile(a, (9, 1))), 1),
        "first": (wg.tensor(np.tile(a[:, None], (1, 9))), 0),
        "middle": (wg.tensor(np.tile(a[None, :, None], (2, 1, 3))), 1),
        "strided": (wg.tensor(np.repeat(a, 3))[::3], 0),
        "two": (wg.tensor(np.tile(a[:, None, None], (1, 2, 3))), (0, 2)),
    }


@pytest.mark.parametrize(("dtype", "n", "number"), list(itertools.product(DTYPES, [2, 3, 10, 49, 1000, 3001], NUMBERS)))
def test_variance_is_zero(dtype: Any, n: int, number: float) -> None:
    for name, (t, dim) in layouts(np.full(n, number, dtype)).items():
        leaf = t.clone().requires_grad_()
        for result in (leaf.var(dim), leaf.std(dim), *wg.var_mean(leaf, dim)[:1], *wg.std_mean(leaf, dim)[:1]):
            assert not result.detach().numpy().any(), (name, result)
        assert (wg.var_mean(leaf, dim)[1] == dtype(number)).all(), name
        assert not grad(leaf.std(dim).sum(), leaf)[0].numpy().any(), name
    z = wg.tensor(np.full((4, n), complex(number, 0.7 * number)), dtype=wg.complex128)
    assert not z.std(1).numpy().any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("steps", [[0, 1, 2, 0, 1], [0, 0, 0, 0, 1], [3, 0, 0, 0, 0], [0, 1] * 50])
def test_variance_of_neighbouring_numbers(dtype: Any, steps: list[int]) -> None:
    """Numbers a few units in the last place apart: their variance is that of the units."""
    unit = np.spacing(dtype(0.7))
    a = (dtype(0.7) + np.array(steps, dtype) * unit).astype(dtype)
    want = np.std(np.array(steps, float), ddof=1) * float(unit)
    for name, (t, dim) in layouts(a).items():
        if name != "two":
            np.testing.assert_allclose(np.ravel(t.std(dim).numpy())[0], want, rtol=1e-6, err_msg=name)


F = wg.nn.functional
NORMALISATIONS = {
    "layer_norm": lambda t: F.layer_norm(t, t.shape[1:]),
    "group_norm": lambda t: F.group_norm(t, 2),
    "instance_norm": lambda t: F.instance_norm(t),
    "batch_norm": lambda t: F.batch_norm(t, None, None, training=True),
}
AXES = {"layer_norm": (1, 2), "instance_norm": 2, "batch_norm": (0, 2)}


def deviations(name: str, a: np.ndarray) -> np.ndarray:
    """From the mean over the elements that are normalised together, of [N, C, L] in float64."""
    if name == "group_norm":
        a_ = a.reshape(len(a), 2, -1)
        return (a_ - a_.mean(2, keepdims=True)).reshape(a.shape)
    return a - a.mean(AXES[name], keepdims=True)


@pytest.mark.parametrize("number", [0.1, 1 / 3, -2.3, 1e10 + 0.1, 7.7e20, 3e38, 1e-30])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NORMALISATIONS)
def test_equal_numbers_are_normalised_to_zero(name: str, dtype: Any, number: float) -> None:
    a = np.full((3, 4, 7), number, dtype)
    weights = np.cos(np.arange(a.size)).reshape(a.shape)
    want = deviations(name, weights) / np.sqrt(
        1e-5
    )  # the gradient: 1 / sqrt(variance + eps), and no part along the result
    for t in (wg.tensor(a), wg.tensor(a.T.copy()).permute(2, 1, 0), wg.tensor(np.repeat(a, 2, 2))[:, :, ::2]):
        leaf = t.detach().requires_grad_()
        out = NORMALISATIONS[name](leaf)
        assert not out.detach().numpy().any()
        for create_graph in (False, True):
            (got,) = grad(
                (out * wg.tensor(weights.astype(dtype))).sum(), leaf, retain_graph=True, create_graph=create_graph
            )
            np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-4, atol=1e-4 * abs(want).max())


@pytest.mark.parametrize("name", [*NORMALISATIONS, "evaluation"])
def test_normalised_numbers_with_a_large_mean(name: str) -> None:
    """In float32, of numbers whose mean is exactly 4096: their distances from it are exact, and count."""
    steps = np.random.default_rng(0).permuted(np.tile(np.arange(-3, 4), (3, 4, 1)), axis=2)
    a = 4096 + steps / 512
    variance = np.var(steps / 512)
    x = wg.tensor(a.astype(np.float32), requires_grad=True)
    moments = [wg.tensor(np.full(4, v, np.float32)) for v in (4096, variance)]
    function = NORMALISATIONS.get(name, lambda t: F.batch_norm(t, *moments, training=False))
    out = function(x)
    rstd = 1 / np.sqrt(variance + 1e-5)
    hat = steps / 512 * rstd
    np.testing.assert_allclose(out.detach().numpy(), hat, rtol=1e-5, atol=1e-6)
    if name != "evaluation":
        weights = np.cos(np.arange(a.size)).reshape(a.shape)
        (got,) = grad((out * wg.tensor(weights.astype(np.float32))).sum(), x)
        along = (weights * hat) - deviations(name, weights * hat)  # the mean of what is normalised together
        want = rstd * (deviations(name, weights) - hat * along)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-5 * abs(want).max())


@pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float32, 1e25), (np.float32, 1e-25), (np.float64, 1e170), (np.float64, 1e-170)]
)
def test_standard_deviation_of_large_and_small_numbers(dtype: Any, scale: float) -> None:
    """Their squares leave the range of the dtype; the deviation, what is normalised by it, and gradients do not."""
    a = np.array([0.3, -1.2, 2.0, 0.7, 1.1])
    for name, (t, dim) in layouts((a * scale).astype(dtype)).items():
        if name != "two":
            np.testing.assert_allclose(
                np.ravel(t.std(dim).numpy())[0] / scale, np.std(a, ddof=1), rtol=1e-5, err_msg=name
            )
    x = wg.tensor((np.stack([a, a[::-1], a * 2, a + 1]) * scale).astype(dtype), requires_grad=True)
    plain = wg.tensor(np.stack([a, a[::-1], a * 2, a + 1]).astype(dtype), requires_grad=True)
    eps = 1e-5 if scale > 1 else 0.0
    for f in [
        lambda t: wg.nn.functional.layer_norm(t, [5], eps=eps),
        lambda t: wg.nn.functional.rms_norm(t, [5], eps=eps),
        lambda t: wg.nn.functional.group_norm(t[:, :, None] * wg.ones(3, dtype=t.dtype), 1, eps=eps),
        lambda t: wg.nn.functional.batch_norm(t, None, None, training=True, eps=eps),
    ]:
        out, reference = f(x), f(plain)
        if eps:
            with wg.no_grad():
                spread = 1e-4
        else:
            spread = 1e-5
        np.testing.assert_allclose(out.detach().numpy(), reference.detach().numpy(), rtol=spread, atol=spread)
        weights = wg.tensor(np.cos(np.arange(reference.numel())).reshape(reference.shape).astype(dtype))
        for create_graph in (False, True):
            got = grad((out * weights).sum(), x, retain_graph=True, create_graph=create_graph)[0].detach().numpy()
            want = grad((reference * weights).sum(), plain, retain_graph=True)[0].numpy()
            np.testing.assert_allclose(got * scale, want, rtol=2e-3, atol=1e-3 * abs(want).max())
