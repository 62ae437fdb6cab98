"""The examples, run small: they learn what they claim to learn and save their plots."""

import numpy as np
import pytest

import wengert as wg
from examples import char_language_model, fit_digits, gaussian_process, normalizing_flow, variational_autoencoder


def test_fit_digits_learns():
    losses, accuracy = fit_digits.train(epochs=6)
    assert np.mean(losses[-10:]) < 0.1 * losses[0]
    assert accuracy >= 0.95


def test_fit_digits_is_reproducible():
    first, _ = fit_digits.train(epochs=1, limit=256)
    second, _ = fit_digits.train(epochs=1, limit=256)
    assert first == second


def test_fit_digits_command(tmp_path, capsys):
    picture = tmp_path / "digits.png"
    fit_digits.main(["--epochs", "1", "--plot", str(picture)])
    assert "held-out accuracy" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_gaussian_process_gradient_is_the_slope():
    years, values = (array[::8] for array in gaussian_process.load_data())
    start = np.log(list(gaussian_process.HYPERPARAMETERS.values()))

    observed = gaussian_process.Observations(wg, years, values - values.mean())

    def objective(theta):
        return gaussian_process.negative_log_likelihood(wg, theta, observed)

    theta = wg.tensor(start, requires_grad=True)
    (gradient,) = wg.autograd.grad(objective(theta), [theta])
    for shift, slope in zip(1e-4 * np.eye(len(start)), gradient.tolist(), strict=True):
        rise = objective(wg.tensor(start + shift)).item() - objective(wg.tensor(start - shift)).item()
        assert slope == pytest.approx(rise / 2e-4, rel=1e-4, abs=1e-4)


def test_gaussian_process_predicts_unseen_months():
    years, values = gaussian_process.load_data()
    years, values = years[-144:], values[-144:]
    fitted = gaussian_process.fit(years=years[::2], values=values[::2], max_iterations=30)
    assert fitted.objective < fitted.history[0]
    mean, deviation = fitted.predict(years[1::2])
    error = np.abs(mean - values[1::2])
    assert error.mean() < 0.5
    assert np.mean(error < 3 * deviation) > 0.9


def test_gaussian_process_is_calibrated():
    """About 95 % of what is held out lies within two standard deviations; errors are as large as the model says."""
    years, values = gaussian_process.load_data()
    held_out = years >= gaussian_process.HELD_OUT_FROM
    fitted = gaussian_process.fit(years=years[~held_out][-240:], values=values[~held_out][-240:])
    mean, deviation = fitted.predict(years[held_out])
    scaled = np.abs(values[held_out] - mean) / deviation
    assert 0.85 <= np.mean(scaled < 2) <= 1
    assert 0.3 < np.mean(scaled**2) < 2.5


def test_gaussian_process_command(tmp_path, capsys):
    picture = tmp_path / "co2.png"
    gaussian_process.main(["--iterations", "1", "--plot", str(picture)])
    assert "within two standard deviations" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_char_language_model_beats_frequencies():
    model, characters, losses, test = char_language_model.train(steps=80, batch=24)
    uninformed = char_language_model.entropy(char_language_model.load_text()[0])
    assert np.mean(losses[-10:]) < 0.95 * uninformed < losses[0]
    assert test < 1.1 * uninformed
    assert len(char_language_model.write(model, characters, length=10)) == len("def ") + 10


def test_char_language_model_command(tmp_path, capsys):
    picture = tmp_path / "language.png"
    char_language_model.main(["--steps", "2", "--width", "8", "--plot", str(picture)])
    assert "bits for a character" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_variational_autoencoder_orders_digits():
    model, bounds = variational_autoencoder.train(epochs=15)
    assert bounds[-1] > bounds[0] + 3
    _, held_out, digits = variational_autoencoder.load_images(0)
    with wg.no_grad():
        points = model.posterior(held_out).mean.numpy()
    assert variational_autoencoder.neighbours_agree(points, digits) > 0.4


def test_variational_autoencoder_command(tmp_path, capsys):
    picture = tmp_path / "plane.png"
    variational_autoencoder.main(["--epochs", "1", "--plot", str(picture)])
    assert "evidence lower bound" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_normalizing_flow_beats_a_normal_distribution():
    flow, _ = normalizing_flow.train(steps=200)
    test = normalizing_flow.load_points(1000, 1)
    with wg.no_grad():
        found = flow.log_density(test).mean().item()
        z, _ = flow(test)
        back = z
        for layer in reversed(flow.layers):
            back = layer.inverse(back)
    assert found > normalizing_flow.normal_log_density(test.numpy()) + 0.3
    np.testing.assert_allclose(back.numpy(), test.numpy(), atol=1e-3)
    assert normalizing_flow.determinant_error(flow, test[:20]) < 1e-4


def test_normalizing_flow_command(tmp_path, capsys):
    picture = tmp_path / "crescents.png"
    normalizing_flow.main(["--steps", "2", "--plot", str(picture)])
    assert "mean log density" in capsys.readouterr().out
    assert picture.stat().st_size > 0
