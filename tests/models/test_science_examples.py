"""The examples of science, run small: they find what they look for and save their plots."""

import numpy as np
import pytest

import wengert as wg
from examples import (
    burgers_pinn,
    hamiltonian_monte_carlo,
    heat_inversion,
    hidden_markov,
    image_registration,
    molecular_dynamics,
    neural_ode,
    robot_arm,
    sparse_conductivity,
)


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


def test_burgers_pinn_approaches_the_truth():
    network, history = burgers_pinn.fit(points=300, iterations=120, width=12, depth=2)
    assert history[-1] < 0.3 * history[0]
    assert burgers_pinn.error(network) < 0.8 * burgers_pinn.error(burgers_pinn.new_network(12, 2, 0))


def test_burgers_pinn_residual_is_that_of_differences():
    """The truth obeys the equation, and the residual of any network is that of finite differences."""
    x, t, h = np.linspace(-0.9, 0.9, 7), np.full(7, 0.3), 1e-3
    u = {(i, j): burgers_pinn.truth(x + i * h, t + j * h) for i in (-1, 0, 1) for j in (-1, 0, 1)}
    u_x, u_t = (u[1, 0] - u[-1, 0]) / (2 * h), (u[0, 1] - u[0, -1]) / (2 * h)
    u_xx = (u[1, 0] - 2 * u[0, 0] + u[-1, 0]) / h**2
    assert np.abs(u_t + u[0, 0] * u_x - burgers_pinn.VISCOSITY * u_xx).max() < 1e-3
    network = burgers_pinn.new_network(6, 2, 0)

    def value(x, t):
        return burgers_pinn.solution(network, wg.tensor(x), wg.tensor(t)).numpy()

    u_x, u_t = (value(x + h, t) - value(x - h, t)) / (2 * h), (value(x, t + h) - value(x, t - h)) / (2 * h)
    u_xx = (value(x + h, t) - 2 * value(x, t) + value(x - h, t)) / h**2
    expected = u_t + value(x, t) * u_x - burgers_pinn.VISCOSITY * u_xx
    found = burgers_pinn.residual(network, wg.tensor(x), wg.tensor(t)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_burgers_pinn_command(tmp_path, capsys):
    picture = tmp_path / "shock.png"
    burgers_pinn.main(["--points", "60", "--iterations", "3", "--plot", str(picture)])
    assert "relative error" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_hamiltonian_monte_carlo_agrees_with_laplace():
    draws, accepted = hamiltonian_monte_carlo.sample(chains=6, warmup=150, draws=250)
    mean, covariance = (part.numpy() for part in hamiltonian_monte_carlo.laplace(*hamiltonian_monte_carlo.load_data()))
    deviations = np.sqrt(np.diag(covariance))
    assert 0.6 < accepted < 0.97
    assert hamiltonian_monte_carlo.split_r_hat(draws).max() < 1.1
    assert (np.abs(draws.mean((0, 1)) - mean) < 0.5 * deviations).all()
    np.testing.assert_allclose(draws.std((0, 1)), deviations, rtol=0.3)


def test_hamiltonian_monte_carlo_command(tmp_path, capsys):
    picture = tmp_path / "posterior.png"
    hamiltonian_monte_carlo.main(["--draws", "20", "--chains", "2", "--plot", str(picture)])
    assert "acceptance" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_molecular_dynamics_keeps_energy_and_momentum():
    liquid, energies, _, _ = molecular_dynamics.simulate(cells=2, settle=100, steps=200)
    forces, _ = liquid.forces()
    np.testing.assert_allclose(forces.sum(0).numpy(), 0, atol=1e-10)
    assert energies.sum(1).std() < 0.05 * energies[:, 1].std()


def test_molecular_dynamics_pressure_is_the_slope_of_the_energy():
    liquid = molecular_dynamics.Liquid(cells=2)
    liquid.positions += 0.05 * wg.tensor(np.random.default_rng(0).normal(size=(liquid.count, 3)))

    def energy(volume):
        scale = (volume / liquid.edge**3) ** (1 / 3)
        return molecular_dynamics.energy(liquid.positions * scale, liquid.edge * scale, liquid.pairs).item()

    volume, change = liquid.edge**3, 1e-3
    slope = (energy(volume + change) - energy(volume - change)) / (2 * change)
    assert liquid.pressure() == pytest.approx(2 * liquid.kinetic() / (3 * volume) - slope, rel=1e-5)


def test_molecular_dynamics_command(tmp_path, capsys):
    picture = tmp_path / "argon.png"
    molecular_dynamics.main(["--cells", "2", "--steps", "30", "--plot", str(picture)])
    assert "total energy" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_robot_arm_swings_up():
    states, _, costs = robot_arm.control(duration=2.0, iterations=8)
    assert costs[-1] < 0.05 * costs[0]
    assert np.abs(states[-1] - robot_arm.GOAL)[:2].max() < 0.2


def test_robot_arm_keeps_energy_without_torque():
    """Equations of motion from the Lagrangian conserve the energy, up to the errors of the integrator."""

    def energy(state):
        q, v = wg.tensor(state[:2]), wg.tensor(state[2:])
        momentum = wg.func.grad(robot_arm.lagrangian, argnums=1)(q, v)
        return (momentum @ v - robot_arm.lagrangian(q, v)).item()

    states, _ = robot_arm.roll_out([1.0, 0.5, 0.0, 0.0], np.zeros((40, 2)))
    assert energy(states[-1]) == pytest.approx(energy(states[0]), abs=0.05)
    assert np.abs(states[-1] - states[0]).max() > 0.5


def test_robot_arm_command(tmp_path, capsys):
    picture = tmp_path / "arm.png"
    robot_arm.main(["--duration", "0.2", "--iterations", "2", "--plot", str(picture)])
    assert "off the goal" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_image_registration_finds_the_map():
    fixed, moving = image_registration.load_images(every=8)
    theta, _ = image_registration.register(fixed, moving, iterations=30)
    assert image_registration.displacement(theta, fixed.shape) < 0.2
    assert image_registration.displacement(np.eye(2, 3), fixed.shape) > 3


def test_image_registration_command(tmp_path, capsys):
    picture = tmp_path / "flower.png"
    image_registration.main(["--every", "16", "--iterations", "2", "--plot", str(picture)])
    assert "pixels on average" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_sparse_conductivity_gradient_is_the_slope():
    mesh = sparse_conductivity.Mesh(8)
    start = wg.tensor(sparse_conductivity.body(8), requires_grad=True)
    weight = wg.tensor(np.random.default_rng(0).normal(size=(32, 32)))

    def value(conductivity):
        return (mesh.voltages(conductivity) * weight).sum()

    (gradient,) = wg.autograd.grad(value(start), start)
    direction = np.random.default_rng(1).normal(size=(8, 8))
    rise = [value(start.detach() + sign * 1e-5 * wg.tensor(direction)).item() for sign in (1, -1)]
    assert (gradient.numpy() * direction).sum() == pytest.approx((rise[0] - rise[1]) / 2e-5, rel=1e-6)


def test_sparse_conductivity_is_found():
    found, history = sparse_conductivity.invert(sparse_conductivity.measure(32), n=16, iterations=60)
    assert history[-1] < 0.1 * history[0]
    assert sparse_conductivity.error(found) < 0.8 * sparse_conductivity.error(np.ones((16, 16)))


def test_sparse_conductivity_command(tmp_path, capsys):
    picture = tmp_path / "body.png"
    sparse_conductivity.main(["--squares", "8", "--iterations", "3", "--plot", str(picture)])
    assert "unknowns" in capsys.readouterr().out
    assert picture.stat().st_size > 0


def test_hidden_markov_posterior_is_that_of_forward_and_backward():
    """The gradient is what the two recursions of the textbook give, in NumPy."""
    _, growth = hidden_markov.load_data()
    growth = growth[:40]
    model = {name: wg.tensor(value, dtype=wg.float64) for name, value in hidden_markov.START.items()}
    emissions = np.exp(hidden_markov.log_emissions(model, wg.tensor(growth)).numpy())
    moves = model["logits"].softmax(1).numpy()
    stationary = np.array([moves[1, 0], moves[0, 1]]) / (moves[1, 0] + moves[0, 1])
    forward, backward = np.zeros((40, 2)), np.ones((40, 2))
    forward[0] = stationary * emissions[0]
    for t in range(1, 40):
        forward[t] = forward[t - 1] @ moves * emissions[t]
    for t in reversed(range(39)):
        backward[t] = moves @ (emissions[t + 1] * backward[t + 1])
    expected = forward * backward / forward[-1].sum()
    np.testing.assert_allclose(hidden_markov.posterior(model, growth).numpy(), expected, atol=1e-10)


def test_hidden_markov_finds_recessions(tmp_path, capsys):
    picture = tmp_path / "recessions.png"
    hidden_markov.main(["--plot", str(picture)])
    output = capsys.readouterr().out
    assert int(output.split("agrees with the official dating in ")[1].split("%")[0]) >= 85
    assert picture.stat().st_size > 0
