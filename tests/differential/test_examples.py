"""The examples end where they end on PyTorch."""

import numpy as np
import pytest

from examples import fit_digits, gaussian_process

pytest.importorskip("torch")


def test_fit_digits_has_the_same_loss_curve():
    ours, our_accuracy = fit_digits.train("wengert", epochs=3)
    theirs, their_accuracy = fit_digits.train("torch", epochs=3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    assert our_accuracy == their_accuracy


def test_gaussian_process_has_the_same_optimum():
    years, values = (array[-240:] for array in gaussian_process.load_data())
    ours = gaussian_process.fit("wengert", years, values)
    theirs = gaussian_process.fit("torch", years, values)
    # The covariance has condition 6e7: another BLAS, which rounds it differently, moves the objective by about 2e-10.
    assert ours.history[0] == pytest.approx(theirs.history[0], rel=1e-8)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    np.testing.assert_allclose(ours.predict(years)[0], theirs.predict(years)[0], atol=1e-2)
