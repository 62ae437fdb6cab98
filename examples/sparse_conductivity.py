"""Sparse finite elements: what is inside of a body, from voltages on its surface.

Shows `wengert.sparse`: the stiffness matrix is a sparse tensor whose values are computed from the conductivity, and
`solve` factorizes it once, for all currents and for the backward pass too (the adjoint method), so that thousands of
derivatives cost one more solve.

Currents are driven through pairs of electrodes around a square, and voltages read at all of them: electrical impedance
tomography. The voltages are computed on a finer mesh than the one that is searched, with noise, so the truth is known
and the answer honest; the picture is blurred, as this problem is badly posed. See M. Cheney, D. Isaacson and J. C.
Newell, SIAM Review 41 (1999) 85-101; the smoothed total variation is that of L. I. Rudin, S. Osher and E. Fatemi,
Physica D 60 (1992) 259-268.

    python examples/sparse_conductivity.py --plot body.png
"""

import argparse
import time

import numpy as np
from tqdm import tqdm

import wengert as wg

ELECTRODES = 32
NOISE = 2e-3  # of the largest voltage
PENALTY, EDGE = 100.0, 0.02


class Mesh:
    """A square of side 1 of n * n squares, each cut into two triangles; conductivity is one number for each square."""

    def __init__(self, n):
        self.n, nodes = n, (n + 1) ** 2
        number = np.arange(nodes).reshape(n + 1, n + 1)
        lower = np.stack([number[:-1, :-1], number[:-1, 1:], number[1:, :-1]], -1)
        upper = np.stack([number[1:, 1:], number[1:, :-1], number[:-1, 1:]], -1)
        triangles = np.stack([lower, upper], 2).reshape(-1, 3)  # [2*n*n,3], right angle first
        # Both triangles have one stiffness matrix, whatever their size: integrals of products of gradients.
        element = np.array([[1.0, -0.5, -0.5], [-0.5, 0.5, 0.0], [-0.5, 0.0, 0.5]])
        places = np.stack([np.repeat(triangles, 3, 1).ravel(), np.tile(triangles, 3).ravel()])  # of what triangles add
        self.free = places.min(0) > 0  # node 0 has voltage 0: neither row nor column
        self.places = wg.tensor(places[:, self.free] - 1)
        self.unknowns = nodes - 1
        self.element = wg.tensor(np.tile(element.ravel(), (2 * n * n, 1)))  # [2*n*n,9]
        ring = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
        self.electrodes = ring[:: len(ring) // ELECTRODES]
        # A current through each electrode and the one a quarter further on.
        self.currents = np.zeros((nodes, ELECTRODES))
        self.currents[self.electrodes, np.arange(ELECTRODES)] = 1
        self.currents[np.roll(self.electrodes, -ELECTRODES // 4), np.arange(ELECTRODES)] -= 1

        # Where current flows through a point, its voltage depends on the mesh: only the others are read.
        self.read = wg.tensor(self.currents[self.electrodes] == 0)

    def voltages(self, conductivity):
        """At the electrodes, for each pair that a current is driven through [electrodes,pairs]; 0 at that pair."""
        values = (conductivity.flatten().repeat_interleave(2)[:, None] * self.element).flatten()[self.free]
        stiffness = wg.sparse_coo_tensor(self.places, values, (self.unknowns, self.unknowns))
        solution = wg.sparse.solve(stiffness, wg.tensor(self.currents[1:]))
        voltages = wg.cat([wg.zeros_like(solution[:1]), solution])[self.electrodes]
        read = voltages * self.read
        return (voltages - read.sum(0) / self.read.sum(0)) * self.read


def body(n):
    """The conductivity to be found [n,n]: lungs that conduct badly, a heart that conducts well."""
    y, x = np.meshgrid((np.arange(n) + 0.5) / n, (np.arange(n) + 0.5) / n, indexing="ij")
    conductivity = np.ones((n, n))
    for centre, radii, value in (
        ((0.3, 0.55), (0.14, 0.24), 0.4),
        ((0.72, 0.55), (0.13, 0.22), 0.4),
        ((0.52, 0.25), (0.1, 0.1), 2.0),
    ):
        conductivity[((x - centre[0]) / radii[0]) ** 2 + ((y - centre[1]) / radii[1]) ** 2 < 1] = value
    return conductivity


def measure(n, seed=0):
    """Voltages of the body, computed with n * n squares, with noise [electrodes,pairs]."""
    mesh = Mesh(n)
    voltages = mesh.voltages(wg.tensor(body(n))).numpy()
    noise = np.random.default_rng(seed).normal(size=voltages.shape) * NOISE * np.abs(voltages).max()
    return voltages + noise * mesh.read.numpy()


def variation(image):
    """Total variation of an image [n,n], smooth where it is flat."""
    down, right = image.diff(dim=0)[:, :-1], image.diff(dim=1)[:-1]
    return ((down**2 + right**2 + EDGE**2).sqrt() - EDGE).sum()


def invert(voltages, n=32, iterations=150, progress=False):
    """Find the conductivity; return it [n,n] and the objective at each iteration."""
    mesh, measured = Mesh(n), wg.tensor(voltages)
    deviation = NOISE * np.abs(voltages).max()
    history = []

    def objective(log_conductivity):
        misfit = ((mesh.voltages(log_conductivity.exp()) - measured) / deviation).square().sum() / 2
        return misfit + PENALTY / n * variation(log_conductivity)

    with tqdm(total=iterations, disable=not progress, unit="iteration") as bar:

        def callback(intermediate_result):
            history.append(float(intermediate_result.fun))
            bar.set_postfix(objective=f"{history[-1]:.3e}", refresh=False)
            bar.update()

        result = wg.optimize.minimize(
            objective, wg.zeros(n, n, dtype=wg.float64), method="L-BFGS-B", callback=callback,
            options={"maxiter": iterations, "maxcor": 30, "ftol": 1e-13, "gtol": 1e-10},
        )  # fmt: skip
    return result.x.exp().numpy(), history


def error(conductivity):
    """Root mean square difference of logarithms from the truth."""
    return float(np.sqrt(np.mean(np.log(conductivity / body(len(conductivity))) ** 2)))


def plot(conductivity, history, path):
    """Save the truth, what was found and the objective as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for ax, image, title in ((axes[0], body(96), "truth"), (axes[1], conductivity, "found")):
        shown = ax.imshow(image, cmap="viridis", vmin=0.3, vmax=2.1, origin="lower", extent=(0, 1, 0, 1))
        mesh = Mesh(32)
        places = np.divmod(mesh.electrodes, 33)
        ax.plot(places[1] / 32, places[0] / 32, "k.", clip_on=False)
        ax.set(title=title, xticks=[], yticks=[])
    figure.colorbar(shown, ax=axes[1], label="conductivity")
    axes[2].semilogy(history)
    axes[2].set(xlabel="iteration", title="objective")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--squares", type=int, default=32, help="along each edge, a multiple of 8")
    parser.add_argument("--iterations", type=int, default=150)
    parser.add_argument("--plot", metavar="PATH", help="save the picture there")
    options = parser.parse_args(arguments)

    voltages = measure(2 * options.squares)
    start = time.perf_counter()
    conductivity, history = invert(voltages, options.squares, options.iterations, progress=True)
    seconds = time.perf_counter() - start
    uniform = error(np.ones_like(conductivity))
    print(f"{options.squares**2} unknowns from {np.count_nonzero(voltages)} voltages with {NOISE:.1%} noise")
    print(f"error of log conductivity {error(conductivity):.3f}, of a uniform body {uniform:.3f}")
    print(f"{len(history)} iterations in {seconds:.1f} s")
    if options.plot:
        plot(conductivity, history, options.plot)
        print(f"picture saved to {options.plot}")


if __name__ == "__main__":
    main()
