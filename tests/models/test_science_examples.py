"""The examples of science, run small: they find what they look for and save their plots."""

import pytest

from examples import heat_inversion, neural_ode


def test_neural_ode_forecasts_sunspots():
    parameters, losses = neural_ode.train(iterations=120)
    assert losses[-1] < 0.4 * losses[0]
    error, naive = neural_ode.held_out_errors(parameters)
    assert error < 0.9 * naive


def test_neural_ode_command(tmp_path, capsys):
    picture = tmp_path / "sunspots.png"
    neural_ode.main(["--iterations", "2", "--plot", str(picture)])
    assert "held-out years" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_heat_inversion_finds_picture_and_conductivity():
    photograph = heat_inversion.load_data(size=32)
    pictures = heat_inversion.observe(photograph)
    found = heat_inversion.invert(pictures, iterations=80).x
    assert found["conductivity"] == pytest.approx(heat_inversion.CONDUCTIVITY, rel=0.2)
    assert heat_inversion.error(found["picture"], photograph) < 0.8 * heat_inversion.error(pictures[0], photograph)


def test_heat_inversion_command(tmp_path, capsys):
    picture = tmp_path / "plate.png"
    heat_inversion.main(["--size", "16", "--iterations", "3", "--plot", str(picture)])
    assert "conductivity" in capsys.readouterr().out
    assert picture.stat().st_size > 0
