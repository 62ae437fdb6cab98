"""Normalizing flow: a density with two crescents, as a normal one that was bent.

Shows a change of variables whose logarithm of the determinant is a sum, trained by maximum likelihood: each layer
moves one coordinate by an amount and a scale that depend on the other one, so that it can be undone and its
determinant read off. A determinant by automatic differentiation (`jacrev`) agrees with that, which the program checks.

Data: two interleaved half circles with noise, drawn by scikit-learn, so that the truth is known. The method: L. Dinh et
al., "Density estimation using Real NVP", ICLR 2017.

    python examples/normalizing_flow.py --plot crescents.png
"""

import argparse
import math
import time

import numpy as np
from sklearn.datasets import make_moons
from tqdm import tqdm

import wengert as wg
from wengert import nn


class Coupling(nn.Module):
    """Moves coordinate `moved`, by what a perceptron makes of the other one."""

    def __init__(self, moved, width=48):
        super().__init__()
        self.moved = moved
        self.network = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)
        )

    def amounts(self, x):
        """Logarithm of the scale and the shift, from the coordinate that stays [...,1]."""
        log_scale, shift = self.network(x[..., 1 - self.moved, None]).unbind(-1)
        return 2 * wg.tanh(log_scale / 2), shift

    def joined(self, x, coordinate):
        pair = (coordinate, x[..., 1]) if self.moved == 0 else (x[..., 0], coordinate)
        return wg.stack(pair, -1)

    def forward(self, x):
        """Points [...,2] moved, and the logarithm of how much space is stretched [...]."""
        log_scale, shift = self.amounts(x)
        return self.joined(x, x[..., self.moved] * log_scale.exp() + shift), log_scale

    def inverse(self, y):
        log_scale, shift = self.amounts(y)
        return self.joined(y, (y[..., self.moved] - shift) * (-log_scale).exp())


class Flow(nn.Module):
    """From data to a standard normal distribution, and back."""

    def __init__(self, layers=8):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2) for i in range(layers))

    def forward(self, x):
        stretched = 0.0
        for layer in self.layers:
            x, log_scale = layer(x)
            stretched = stretched + log_scale
        return x, stretched

    def log_density(self, x):
        """Logarithm of the density at points [...,2]: change of variables."""
        z, stretched = self(x)
        return -0.5 * z.square().sum(-1) - math.log(2 * math.pi) + stretched

    def sample(self, count):
        x = wg.randn(count, 2)
        for layer in reversed(self.layers):
            x = layer.inverse(x)
        return x


def load_points(count, seed):
    """Points [N,2] of two crescents, each coordinate with mean 0 and variance 1."""
    points, _ = make_moons(count, noise=0.07, random_state=seed)
    return wg.tensor((points - [0.5, 0.25]) / [0.87, 0.5], dtype=wg.float32)


def normal_log_density(points):
    """Mean logarithm of the density of the best normal distribution, to compare with."""
    return float(-0.5 * np.linalg.slogdet(np.cov(points.T))[1] - math.log(2 * math.pi) - 1)


def determinant_error(flow, points):
    """Greatest difference between the sum of logarithms of scales and the determinant of the Jacobian."""
    jacobians = wg.func.vmap(wg.func.jacrev(lambda x: flow(x)[0]))(points)
    return (wg.linalg.slogdet(jacobians)[1] - flow(points)[1]).abs().max().item()


def train(steps=1500, batch=256, seed=0, progress=False):
    """Fit the flow; return it and the mean log density of each batch."""
    wg.manual_seed(seed)
    points = load_points(4000, seed)
    flow = Flow()
    optimizer = wg.optim.Adam(flow.parameters(), lr=3e-3)
    schedule = wg.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    history = []
    with tqdm(total=steps, disable=not progress, unit="step") as bar:
        for _ in range(steps):
            loss = -flow.log_density(points[wg.randint(len(points), (batch,))]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            history.append(-loss.item())
            bar.set_postfix(log_density=f"{history[-1]:.3f}", refresh=False)
            bar.update()
    return flow, history


def plot(flow, path):
    """Save samples and the density as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x, y = np.meshgrid(np.linspace(-2.4, 2.4, 160), np.linspace(-2.4, 2.4, 160))
    with wg.no_grad():
        density = flow.log_density(wg.tensor(np.stack([x, y], -1), dtype=wg.float32)).exp().numpy()
        samples = flow.sample(1500).numpy()
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained", sharex=True, sharey=True)
    axes[0].scatter(*load_points(1500, 1).numpy().T, s=3)
    axes[1].scatter(*samples.T, s=3, color="C1")
    axes[2].contourf(x, y, density, 24, cmap="magma")
    for ax, title in zip(axes, ("data", "samples of the flow", "its density"), strict=True):
        ax.set(title=title, xlim=(-2.4, 2.4), ylim=(-2.4, 2.4), aspect="equal")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--plot", metavar="PATH", help="save samples and density there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    flow, history = train(options.steps, progress=True)
    test = load_points(2000, 1)
    with wg.no_grad():
        found, normal = flow.log_density(test).mean().item(), normal_log_density(test.numpy())
    print(f"mean log density of unseen points: {found:.3f}, of the best normal one {normal:.3f}")
    print(f"determinants agree with those of Jacobians to {determinant_error(flow, test[:200]):.1e}")
    print(f"{len(history)} steps in {time.perf_counter() - start:.1f} s")
    if options.plot:
        plot(flow, options.plot)
        print(f"density saved to {options.plot}")


if __name__ == "__main__":
    main()
