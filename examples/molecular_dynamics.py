"""Molecular dynamics: liquid argon, its forces and its pressure from one energy.

Shows derivatives as physics. Only the energy is written down; minus its gradient with respect to positions are the
forces, minus its derivative with respect to the volume the pressure's interaction part, and energy is conserved only
if the forces are exact.

Lennard-Jones atoms in a periodic cube, integrated by L. Verlet's scheme, Physical Review 159 (1967) 98-103, which
simulated this liquid first. The radial distribution has the peaks that A. Rahman found, Physical Review 136 (1964)
A405-A411. Units are those of the potential: for argon 3.4 angstroms, 120 kelvin and 2.15 picoseconds.

    python examples/molecular_dynamics.py --plot argon.png
"""

import argparse
import time

import numpy as np
from tqdm import tqdm

import wengert as wg

DENSITY, TEMPERATURE = 0.8, 0.8
CUTOFF = 2.5
STEP = 0.004


def energy(positions, edge, pairs):
    """Potential energy of atoms [N,3] in a cube, each pair taken at its nearest image.

    Beyond the cutoff it is zero; below, shifted so that energy and force vanish there.
    """
    first, second = pairs
    apart = positions[first] - positions[second]  # [P,3]
    apart = apart - edge * wg.round(apart / edge).detach()
    inverse = 1 / apart.square().sum(1)
    near = inverse > CUTOFF**-2
    sixth = inverse**3
    ends = CUTOFF**-6
    value, slope = 4 * (ends**2 - ends), 4 * (6 * ends - 12 * ends**2) / CUTOFF
    distance = inverse.rsqrt()
    pair = 4 * (sixth * sixth - sixth) - value - slope * (distance - CUTOFF)
    return wg.where(near, pair, 0.0).sum()


class Liquid:
    """Atoms on a face-centred lattice with random velocities: `cells` ** 3 * 4 of them."""

    def __init__(self, cells=3, seed=0):
        rng = np.random.default_rng(seed)
        corners = np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
        places = (corners + np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])).reshape(-1, 3) + 0.25
        self.count = len(places)
        self.edge = float((self.count / DENSITY) ** (1 / 3))
        self.positions = wg.tensor(places / cells * self.edge)
        velocities = rng.normal(size=places.shape) * np.sqrt(TEMPERATURE)
        self.velocities = wg.tensor(velocities - velocities.mean(0))
        self.pairs = tuple(wg.tensor(index) for index in np.triu_indices(self.count, 1))

    def forces(self):
        """Forces [N,3] and potential energy."""
        slope, potential = wg.func.grad_and_value(energy)(self.positions, self.edge, self.pairs)
        return -slope, potential.item()

    def pressure(self):
        """Pressure: of the moving atoms, and minus the energy's derivative with respect to the volume.

        Scaling the cube with all positions by s multiplies the volume V by s ** 3, so dU/dV is dU/ds / 3V at s = 1.
        """

        def of_scale(scale):
            return energy(self.positions * scale, self.edge * scale, self.pairs)

        strain = wg.func.grad(of_scale)(wg.tensor(1.0, dtype=wg.float64)).item()
        volume = self.edge**3
        return (2 * self.kinetic() - strain) / (3 * volume)

    def kinetic(self):
        return 0.5 * self.velocities.square().sum().item()

    def temperature(self):
        return 2 * self.kinetic() / (3 * (self.count - 1))


def simulate(cells=3, settle=1000, steps=2000, seed=0, progress=False):
    """Let the lattice melt at the wanted temperature, then leave it alone.

    Returns
    -------
    liquid : Liquid
        At the end.
    energies : ndarray
        Potential and kinetic energy at each step of the second part [steps,2].
    pressures, distances : ndarray
        At every tenth of these: the pressure, and the distances of all pairs.
    """
    liquid = Liquid(cells, seed)
    energies, pressures, distances = [], [], []
    forces, _ = liquid.forces()
    with tqdm(total=settle + steps, disable=not progress, unit="step") as bar:
        for i in range(settle + steps):
            liquid.velocities += 0.5 * STEP * forces
            liquid.positions += STEP * liquid.velocities
            forces, potential = liquid.forces()
            liquid.velocities += 0.5 * STEP * forces
            if i < settle:
                liquid.velocities *= (TEMPERATURE / liquid.temperature()) ** 0.05
            else:
                energies.append((potential, liquid.kinetic()))
                if i % 10 == 0:
                    pressures.append(liquid.pressure())
                    apart = liquid.positions[liquid.pairs[0]] - liquid.positions[liquid.pairs[1]]
                    distances.append((apart - liquid.edge * (apart / liquid.edge).round()).norm(dim=1).numpy())
            bar.update()
    return liquid, np.array(energies), np.array(pressures), np.concatenate(distances)


def radial_distribution(liquid, distances, frames, bins=80):
    """Middles of bins of distance, and how much denser than on average atoms are there from another one."""
    counts, edges = np.histogram(distances, bins, (0, liquid.edge / 2))
    shells = 4 / 3 * np.pi * np.diff(edges**3)
    expected = frames * liquid.count * (liquid.count - 1) / 2 * shells / liquid.edge**3
    return (edges[1:] + edges[:-1]) / 2, counts / expected


def plot(liquid, energies, pressures, distances, path):
    """Save atoms, energies and the radial distribution as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 3.7), layout="constrained")
    box, line, radial = figure.add_subplot(131, projection="3d"), figure.add_subplot(132), figure.add_subplot(133)
    box.scatter(*(liquid.positions.numpy() % liquid.edge).T, s=60, c="C0", edgecolors="k", linewidths=0.3)
    box.set(title=f"{liquid.count} atoms", xticks=[], yticks=[], zticks=[])
    times = STEP * np.arange(len(energies))
    for values, name in ((energies[:, 0], "potential"), (energies[:, 1], "kinetic"), (energies.sum(1), "total")):
        line.plot(times, values / liquid.count, label=name)
    line.set(xlabel="time", title="energy of an atom")
    line.legend()
    radial.plot(*radial_distribution(liquid, distances, len(pressures)))
    radial.axhline(1, color="gray", linewidth=0.6)
    radial.set(xlabel="distance", title="radial distribution")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=3, help="cells of four atoms along each edge")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--plot", metavar="PATH", help="save atoms and energies there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    found = simulate(options.cells, options.steps // 2, options.steps, progress=True)
    seconds = time.perf_counter() - start
    liquid, energies, pressures, _ = found
    total, kinetic = energies.sum(1), energies[:, 1]
    temperature = 2 * kinetic.mean() / (3 * (liquid.count - 1))
    print(f"{liquid.count} atoms: temperature {temperature:.3f}, pressure {pressures.mean():.3f}")
    print(f"total energy {total.mean():.3f}, which wanders by {total.std() / kinetic.std():.1%} of the kinetic")
    print(f"{options.steps * 3 // 2} steps in {seconds:.1f} s")
    if options.plot:
        plot(*found, options.plot)
        print(f"atoms and energies saved to {options.plot}")


if __name__ == "__main__":
    main()
