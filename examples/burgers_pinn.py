"""Physics-informed network: a shock wave, from its equation alone.

Shows derivatives of a network with respect to its inputs inside of a loss, and SciPy's quasi-Newton method on its
weights. The network u(x, t) sees no solution: it is asked to obey Burgers' equation, u_t + u u_x = v u_xx, at points
of space and time, and to start from -sin(pi x). Derivatives in x and t are forward mode, twice for u_xx; the gradient
is reverse mode over them.

The truth, which only the test and the picture see, is the integral of E. Hopf (1950) and J. D. Cole (1951). The method
and this problem: M. Raissi et al., Journal of Computational Physics 378 (2019) 686-707.

    python examples/burgers_pinn.py --plot shock.png
"""

import argparse
import time
from itertools import pairwise

import numpy as np
from tqdm import tqdm

import wengert as wg

VISCOSITY = 0.02 / np.pi


def new_network(width, depth, seed):
    """Weights and offsets of a perceptron from (x, t) to u."""
    rng = np.random.default_rng(seed)
    sizes = [2, *[width] * depth, 1]
    return [
        (wg.tensor(rng.normal(size=(m, n)) * np.sqrt(2 / (m + n))), wg.zeros(n, dtype=wg.float64))
        for m, n in pairwise(sizes)
    ]


def solution(network, x, t):
    """u at points [N]; 0 at x = -1 and x = 1, and -sin(pi x) at t = 0, by construction."""
    hidden = wg.stack([x, 2 * t - 1], -1)
    for weight, offset in network[:-1]:
        hidden = wg.tanh(hidden @ weight + offset)
    weight, offset = network[-1]
    free = (hidden @ weight + offset)[..., 0]
    return -wg.sin(np.pi * x) + t * (1 - x * x) * free


def residual(network, x, t):
    """By how much the equation is missed at points [N]; each sees its own point, so one tangent serves all."""
    one = wg.ones_like(x)

    def slope(x):
        return wg.func.jvp(lambda x: solution(network, x, t), (x,), (one,))

    (u, u_x), (_, u_xx) = wg.func.jvp(slope, (x,), (one,))
    _, u_t = wg.func.jvp(lambda t: solution(network, x, t), (t,), (one,))
    return u_t + u * u_x - VISCOSITY * u_xx


def collocation(count, seed):
    """Points of space and time [N]: two thirds anywhere, one third near the middle, where the shock will be."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.uniform(-1, 1, 2 * count // 3), rng.normal(0, 0.06, count - 2 * count // 3)])
    return wg.tensor(x.clip(-1, 1)), wg.tensor(rng.uniform(0, 1, count))


def fit(points=3000, iterations=800, width=20, depth=4, seed=0, progress=False):
    """Minimize the mean square residual; return the network, and the loss at each iteration."""
    x, t = collocation(points, seed)
    history = []

    def loss(network):
        return residual(network, x, t).square().mean()

    with tqdm(total=iterations, disable=not progress, unit="iteration") as bar:

        def callback(intermediate_result):
            history.append(float(intermediate_result.fun))
            bar.set_postfix(residual=f"{history[-1]:.2e}", refresh=False)
            bar.update()

        result = wg.optimize.minimize(
            loss,
            new_network(width, depth, seed),
            method="L-BFGS-B",
            callback=callback,
            options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 30, "ftol": 0, "gtol": 1e-9},
        )
    return result.x, history


def truth(x, t):
    """Hopf and Cole's integral by Gauss-Hermite quadrature, at points [N] with t > 0."""
    nodes, weights = np.polynomial.hermite.hermgauss(200)
    y = x[:, None] - 2 * np.sqrt(VISCOSITY * t)[:, None] * nodes  # [N,nodes]
    exponent = -np.cos(np.pi * y) / (2 * np.pi * VISCOSITY)
    mass = weights * np.exp(exponent - exponent.max(1, keepdims=True))
    return -(mass * np.sin(np.pi * y)).sum(1) / mass.sum(1)


def error(network, seed=1):
    """Relative error of the solution (root mean square) at points that were not trained on."""
    rng = np.random.default_rng(seed)
    x, t = rng.uniform(-1, 1, 4000), rng.uniform(0.01, 1, 4000)
    exact = truth(x, t)
    found = solution(network, wg.tensor(x), wg.tensor(t)).numpy()
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def plot(network, history, path):
    """Save the solution, slices of it beside the truth, and the loss as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x, t = np.linspace(-1, 1, 201), np.linspace(0, 1, 101)
    grid_x, grid_t = np.meshgrid(x, t)
    u = solution(network, wg.tensor(grid_x), wg.tensor(grid_t)).numpy()
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    figure.colorbar(axes[0].pcolormesh(t, x, u.T, cmap="RdBu_r", rasterized=True), ax=axes[0])
    axes[0].set(xlabel="t", ylabel="x", title="u(x, t)")
    for moment in (0.1, 0.4, 0.9):
        axes[1].plot(x, truth(x, np.full_like(x, moment)), "k:", linewidth=2.5)
        axes[1].plot(x, solution(network, wg.tensor(x), wg.full(x.shape, moment)).numpy(), label=f"t = {moment}")
    axes[1].set(xlabel="x", title="slices, and the truth dotted")
    axes[1].legend()
    axes[2].semilogy(history)
    axes[2].set(xlabel="iteration", title="mean square residual")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=3000)
    parser.add_argument("--iterations", type=int, default=800)
    parser.add_argument("--plot", metavar="PATH", help="save the solution there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    network, history = fit(options.points, options.iterations, progress=True)
    print(f"mean square residual: {history[0]:.2e} at first, {history[-1]:.2e} after {len(history)} iterations")
    print(f"relative error of the solution: {error(network):.2%}")
    print(f"{time.perf_counter() - start:.1f} s")
    if options.plot:
        plot(network, history, options.plot)
        print(f"solution saved to {options.plot}")


if __name__ == "__main__":
    main()
