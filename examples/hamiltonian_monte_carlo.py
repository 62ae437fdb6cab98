"""Hamiltonian Monte Carlo: what a tumour's measurements say, and how sure one can be.

Shows `vmap`: the leapfrog integrator is written for one chain, and many run at once, each with its own gradients. Step
sizes are adapted by dual averaging. The Hessian at the mode gives a normal approximation (Laplace's) to compare with.

The model is logistic regression on five measurements, with a normal prior. Data: 569 tumours, bundled with
scikit-learn (W. H. Wolberg et al., UCI Machine Learning Repository, 1995). The method: R. M. Neal, "MCMC using
Hamiltonian dynamics" (2011); M. D. Hoffman and A. Gelman, Journal of Machine Learning Research 15 (2014), for the step
size.

    python examples/hamiltonian_monte_carlo.py --plot posterior.png
"""

import argparse
import math
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from tqdm import tqdm

import wengert as wg

MEASUREMENTS = ("mean radius", "mean texture", "mean smoothness", "mean concavity", "mean symmetry")
NAMES = ("offset", *(name.removeprefix("mean ") for name in MEASUREMENTS))
PRIOR_SCALE = 3.0


def load_data():
    """Standardized measurements with a column of ones [N,6], and 1 where a tumour is malignant [N]."""
    data = load_breast_cancer()
    x = data.data[:, [list(data.feature_names).index(name) for name in MEASUREMENTS]]
    x = (x - x.mean(0)) / x.std(0)
    return wg.tensor(np.column_stack([np.ones(len(x)), x])), wg.tensor(1.0 - data.target)


def log_posterior(weights, x, malignant):
    """Logarithm of the posterior density of the weights [6], up to a constant."""
    score = x @ weights
    likelihood = (malignant * score - wg.nn.functional.softplus(score)).sum()
    return likelihood - 0.5 * (weights / PRIOR_SCALE).square().sum()


def laplace(x, malignant):
    """Mean [6] and covariance [6,6] of the normal approximation at the mode."""
    found = wg.optimize.minimize(lambda w: -log_posterior(w, x, malignant), wg.zeros(x.shape[1], dtype=wg.float64))
    precision = -wg.func.hessian(log_posterior)(found.x, x, malignant)
    return found.x, wg.linalg.inv(precision)


class StepSize:
    """Dual averaging: moves the step until the acceptance rate is `target`; one step for all chains."""

    def __init__(self, start, target=0.8):
        self.origin, self.target = math.log(10 * start), target
        self.error, self.log_mean, self.count = 0.0, 0.0, 0

    def next(self, accepted):
        self.count += 1
        self.error += (self.target - accepted - self.error) / (self.count + 10)
        log_step = self.origin - math.sqrt(self.count) / 0.05 * self.error
        share = self.count**-0.75
        self.log_mean = share * log_step + (1 - share) * self.log_mean
        return math.exp(log_step)

    def final(self):
        return math.exp(self.log_mean)


def sample(chains=8, warmup=300, draws=700, steps=12, seed=0, progress=False):
    """Draw from the posterior.

    Returns
    -------
    draws : ndarray
        [draws,chains,6].
    accepted : float
        Mean probability of acceptance after the warm-up.
    """
    rng = np.random.default_rng(seed)
    x, malignant = load_data()
    slope_and_value = wg.func.vmap(wg.func.grad_and_value(lambda w: log_posterior(w, x, malignant)))

    def leapfrog(place, momentum, slope, step):
        momentum = momentum + 0.5 * step * slope
        for i in range(steps):
            place = place + step * momentum
            slope, height = slope_and_value(place)
            momentum = momentum + (0.5 if i == steps - 1 else 1.0) * step * slope
        return place, momentum, slope, height

    place = wg.tensor(rng.normal(size=(chains, x.shape[1])))
    slope, height = slope_and_value(place)
    adapted, step = StepSize(0.1), 0.1
    kept, rates = [], []
    with tqdm(total=warmup + draws, disable=not progress, unit="draw") as bar:
        for i in range(warmup + draws):
            momentum = wg.tensor(rng.normal(size=place.shape))
            energy = height - 0.5 * momentum.square().sum(1)
            jittered = step * rng.uniform(0.8, 1.2)  # so that no orbit closes
            moved, turned, its_slope, its_height = leapfrog(place, momentum, slope, jittered)
            rate = (its_height - 0.5 * turned.square().sum(1) - energy).exp().clamp(max=1).nan_to_num(0)
            taken = wg.tensor(rng.uniform(size=chains)) < rate
            place, slope = wg.where(taken[:, None], moved, place), wg.where(taken[:, None], its_slope, slope)
            height = wg.where(taken, its_height, height)
            if i < warmup:
                step = adapted.next(rate.mean().item()) if i < warmup - 1 else adapted.final()
            else:
                kept.append(place.numpy())
                rates.append(rate.mean().item())
            bar.update()
    return np.stack(kept), float(np.mean(rates))


def split_r_hat(draws):
    """Gelman and Rubin's statistic for each weight [6], of halves of chains; near 1 where chains agree."""
    halves = np.concatenate(np.split(draws[: len(draws) // 2 * 2], 2), axis=1)  # [n,2*chains,6]
    n = len(halves)
    within, between = halves.var(0, ddof=1).mean(0), n * halves.mean(0).var(0, ddof=1)
    return np.sqrt(((n - 1) / n * within + between / n) / within)


def plot(draws, path):
    """Save chains and posterior densities beside Laplace's approximation as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    mean, covariance = (part.numpy() for part in laplace(*load_data()))
    figure, axes = plt.subplots(2, 3, figsize=(9.5, 5), layout="constrained")
    for i, (ax, name) in enumerate(zip(axes.flat, NAMES, strict=True)):
        ax.hist(draws[:, :, i].ravel(), bins=40, density=True, color="C0", alpha=0.5)
        scale = np.sqrt(covariance[i, i])
        at = np.linspace(mean[i] - 4 * scale, mean[i] + 4 * scale, 200)
        ax.plot(at, np.exp(-0.5 * ((at - mean[i]) / scale) ** 2) / scale / np.sqrt(2 * np.pi), "k:")
        ax.axvline(0, color="gray", linewidth=0.6)
        ax.set(title=name, yticks=[])
    figure.suptitle("weights of malignancy: draws, and the normal approximation dotted")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=700)
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--plot", metavar="PATH", help="save the posterior there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    draws, accepted = sample(options.chains, draws=options.draws, progress=True)
    seconds = time.perf_counter() - start
    for name, mean, deviation in zip(NAMES, draws.mean((0, 1)), draws.std((0, 1)), strict=True):
        print(f"{name:>12}: {mean:6.2f} +- {deviation:.2f}")
    print(f"acceptance {accepted:.0%}, greatest split R-hat {split_r_hat(draws).max():.3f}")
    print(f"{draws.shape[0] * draws.shape[1]} draws of {draws.shape[1]} chains in {seconds:.1f} s")
    if options.plot:
        plot(draws, options.plot)
        print(f"posterior saved to {options.plot}")


if __name__ == "__main__":
    main()
