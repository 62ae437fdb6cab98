"""Long short-term memories at sizes that the samples of the table do not have: several blocks of a batch, matrices that
are cut into tiles and those that are too large for it, layers under vmap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import wengert as wg

RNG = np.random.default_rng(0)


def layer(features: int, hidden: int, dtype: Any = wg.float64) -> Any:
    made = wg.nn.LSTM(features, hidden, dtype=dtype)
    with wg.no_grad():
        for p in made.parameters():
            p.copy_(wg.tensor(RNG.normal(size=p.shape) / np.sqrt(hidden)))
    return made


def outputs_of(x: np.ndarray, w_ih: np.ndarray, w_hh: np.ndarray, b_ih: np.ndarray, b_hh: np.ndarray) -> np.ndarray:
    h = c = np.zeros((x.shape[1], w_hh.shape[1]))
    outputs = []
    for step in x:
        i, f, g, o = np.split(step @ w_ih.T + h @ w_hh.T + b_ih + b_hh, 4, -1)
        c = expit(f) * c + expit(i) * np.tanh(g)
        h = expit(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs)


def gradients(made: Any, x: Any) -> list[np.ndarray]:
    x = x.detach().requires_grad_()
    output, (_, c) = made(x)
    return [g.numpy() for g in wg.autograd.grad((output**2).sum() + c.sum(), [x, *made.parameters()])]


@pytest.mark.parametrize(("batch", "hidden"), [(1, 1), (1, 40), (7, 33), (70, 5), (33, 70), (2, 257), (3, 300)])
def test_sizes(batch: int, hidden: int) -> None:
    made, x = layer(3, hidden), wg.tensor(RNG.normal(size=(4, batch, 3)))
    expected = outputs_of(x.numpy(), *(p.detach().numpy() for p in made.parameters()))
    np.testing.assert_allclose(made(x)[0].detach().numpy(), expected, rtol=1e-12, atol=1e-14)
    # A derivative along a direction, by differences of what NumPy computes.
    along = [RNG.normal(size=p.shape) for p in made.parameters()]
    pairs = [(p.detach().numpy(), d) for p, d in zip(made.parameters(), along, strict=True)]
    step = sum(s * (outputs_of(x.numpy(), *(p + s * 1e-6 * d for p, d in pairs)) ** 2).sum() for s in (1, -1)) / 2e-6
    loss = (made(x)[0] ** 2).sum()
    found = wg.autograd.grad(loss, list(made.parameters()))
    assert sum((g.numpy() * d).sum() for g, d in zip(found, along, strict=True)) == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("hidden", [24, 300])
def test_threads_do_not_change_a_bit(hidden: int) -> None:
    made, x = layer(8, hidden, wg.float32), wg.tensor(RNG.normal(size=(3, 150, 8)), dtype=wg.float32)
    before = wg.get_num_threads()
    try:
        results = []
        for threads in (1, 3):
            wg.set_num_threads(threads)
            results.append([made(x)[0].detach().numpy(), *gradients(made, x)])
    finally:
        wg.set_num_threads(before)
    for one, several in zip(*results, strict=True):
        assert np.array_equal(one, several)


def test_batches_of_sequences_are_larger_batches() -> None:
    made, x = layer(3, 4), wg.tensor(RNG.normal(size=(5, 2, 6, 3)))
    mapped = wg.func.vmap(lambda each: made(each)[0])(x)
    for one, each in zip(mapped, x, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), made(each)[0].detach().numpy(), rtol=1e-13)


def test_networks_with_weights_of_their_own() -> None:
    several = [layer(3, 4) for _ in range(3)]
    x = wg.tensor(RNG.normal(size=(5, 2, 3)))
    parameters, buffers = wg.func.stack_module_state(several)
    outputs = wg.func.vmap(lambda p, b: wg.func.functional_call(several[0], (p, b), (x,))[0])(parameters, buffers)
    for one, made in zip(outputs, several, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), made(x)[0].detach().numpy(), rtol=1e-13)


def test_what_does_not_count_may_be_infinite() -> None:
    """A sample that the loss leaves out adds nothing to gradients, whatever it holds."""
    made, x = layer(2, 3), RNG.normal(size=(3, 2, 2))
    clean = wg.autograd.grad(made(wg.tensor(x))[0][:, 0].sum(), list(made.parameters()))
    x[:, 1] = np.inf
    found = wg.autograd.grad(made(wg.tensor(x))[0][:, 0].sum(), list(made.parameters()))
    for one, other in zip(found, clean, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


def test_a_cell_whose_hidden_state_was_projected() -> None:
    x, h, c, w_ih, w_hh = (RNG.normal(size=s) for s in ((2, 3), (2, 2), (2, 4), (16, 3), (16, 2)))
    given = [wg.tensor(t) for t in (w_ih, w_hh)]
    found, state = wg.lstm_cell(wg.tensor(x), (wg.tensor(h), wg.tensor(c)), *given)
    i, f, g, o = np.split(x @ w_ih.T + h @ w_hh.T, 4, -1)
    c = expit(f) * c + expit(i) * np.tanh(g)
    np.testing.assert_allclose(state.numpy(), c, rtol=1e-12)
    np.testing.assert_allclose(found.numpy(), expit(o) * np.tanh(c), rtol=1e-12)


def test_sizes_that_do_not_fit() -> None:
    w = [wg.ones(8, 3), wg.ones(8, 2)]
    with pytest.raises(RuntimeError, match=r"gates \(4, 2, 8\) need states of \(2, 2\), got \(1, 2\)"):
        wg.lstm(wg.ones(4, 2, 3), (wg.ones(1, 1, 2), wg.ones(1, 1, 2)), w, False, 1, 0.0, False, False, False)
    with pytest.raises(RuntimeError, match="sequence length to be larger than 0"):
        wg.lstm(wg.ones(0, 2, 3), (wg.ones(1, 2, 2), wg.ones(1, 2, 2)), w, False, 1, 0.0, False, False, False)
