"""Carbon dioxide at Mauna Loa: Gaussian-process regression by marginal likelihood.

Shows derivatives through a Cholesky factorization and triangular solves, handed to SciPy's L-BFGS-B
as exact gradients of the log marginal likelihood with respect to eleven hyperparameters. The same
script runs on PyTorch with ``--backend torch`` and ends at the same optimum.

Data: monthly means of atmospheric CO2 in parts per million, 1958 to 2001, bundled with statsmodels
(C. D. Keeling and T. P. Whorf, Scripps Institution of Oceanography, 2004). Years from 1997 on are
held out and predicted. Kernel and starting values: C. E. Rasmussen and C. K. I. Williams, Gaussian
Processes for Machine Learning (2006), section 5.4.3; the gradient: equation 5.9, which automatic
differentiation finds by itself.

    python examples/gaussian_process.py --plot co2.png
"""

import argparse
import math
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from scipy.optimize import minimize
from tqdm import tqdm

HELD_OUT_FROM = 1997.0

# Name, unit and starting value of each hyperparameter; optimized as its logarithm.
HYPERPARAMETERS = {
    "trend amplitude [ppm]": 66.0,
    "trend scale [years]": 67.0,
    "season amplitude [ppm]": 2.4,
    "season decay [years]": 90.0,
    "season smoothness": 1.3,
    "irregularity amplitude [ppm]": 0.66,
    "irregularity scale [years]": 1.2,
    "irregularity shape": 0.78,
    "short noise amplitude [ppm]": 0.18,
    "short noise scale [years]": 0.13,
    "white noise amplitude [ppm]": 0.19,
}
LOG_BOUNDS = (math.log(1e-2), math.log(1e3))


def load_data():
    """Times in years [N] and monthly mean concentrations in ppm [N], months without data left out."""
    from statsmodels.datasets import co2

    monthly = co2.load_pandas().data["co2"].resample("MS").mean().dropna()
    years = monthly.index.year + (monthly.index.month - 0.5) / 12
    return years.to_numpy(np.float64), monthly.to_numpy(np.float64)


def covariance(wg, log_hyperparameters, distance):
    """Covariance of the noise-free process at `distance` years, and the variance of white noise.

    The sum of a smooth trend, a season that drifts in shape, medium-term irregularities (rational
    quadratic) and noise correlated over weeks.
    """
    (trend, trend_scale, season, decay, smoothness, irregular, irregular_scale, shape, short,
     short_scale, white) = wg.exp(log_hyperparameters).unbind()  # fmt: skip
    square = distance * distance
    half_wave = wg.sin(math.pi * distance)
    process = (
        trend**2 * wg.exp(-0.5 * square / trend_scale**2)
        + season**2 * wg.exp(-0.5 * square / decay**2 - 2.0 * half_wave * half_wave / smoothness**2)
        + irregular**2 * (1.0 + square / (2.0 * shape * irregular_scale**2)) ** -shape
        + short**2 * wg.exp(-0.5 * square / short_scale**2)
    )
    return process, white**2


def factorize(wg, log_hyperparameters, years):
    """Lower Cholesky factor [N,N] of the covariance of observations at `years` [N]."""
    process, noise = covariance(wg, log_hyperparameters, (years[:, None] - years).abs())
    return wg.linalg.cholesky(process + noise * wg.eye(len(years), dtype=years.dtype))


def negative_log_likelihood(wg, log_hyperparameters, years, values):
    """Minus the log marginal likelihood of zero-mean observations `values` [N]."""
    factor = factorize(wg, log_hyperparameters, years)
    whitened = wg.linalg.solve_triangular(factor, values[:, None], upper=False)  # [N,1]
    log_determinant = 2.0 * factor.diagonal().log().sum()
    return 0.5 * ((whitened * whitened).sum() + log_determinant + len(values) * math.log(2.0 * math.pi))


@dataclass
class Fit:
    """A fitted process: the optimum and what is needed to predict from it."""

    backend: str
    log_hyperparameters: np.ndarray
    objective: float  # minus the log marginal likelihood at the optimum
    history: list  # the objective at every evaluation
    years: np.ndarray
    values: np.ndarray

    def predict(self, at):
        """Mean and standard deviation [M] of new observations at the years `at` [M]."""
        wg = import_module(self.backend)
        theta, years, at, values = map(wg.tensor, (self.log_hyperparameters, self.years, at, self.values))
        offset = values.mean()
        factor = factorize(wg, theta, years)
        whitened = wg.linalg.solve_triangular(factor, (values - offset)[:, None], upper=False)
        cross, _ = covariance(wg, theta, (years[:, None] - at).abs())  # [N,M]
        weights = wg.linalg.solve_triangular(factor, cross, upper=False)  # [N,M]
        prior, noise = covariance(wg, theta, wg.zeros_like(at))
        mean = offset + (weights * whitened).sum(0)
        variance = prior + noise - (weights * weights).sum(0)
        return mean.numpy(), variance.sqrt().numpy()


def fit(backend="wengert", years=None, values=None, max_iterations=200, progress=False):
    """Find the hyperparameters under which the observations are most likely.

    Parameters
    ----------
    backend : {"wengert", "torch"}
        The package to compute with.
    years, values : ndarray, optional
        Observations [N]; by default the record up to the held-out years.
    max_iterations : int
        Bound on the iterations of L-BFGS-B.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Fit
    """
    wg = import_module(backend)
    if years is None:
        years, values = load_data()
        years, values = years[years < HELD_OUT_FROM], values[years < HELD_OUT_FROM]
    times = wg.tensor(years)
    deviations = wg.tensor(values - values.mean())
    history = []

    def objective(point):
        theta = wg.tensor(point, requires_grad=True)
        loss = negative_log_likelihood(wg, theta, times, deviations)
        (gradient,) = wg.autograd.grad(loss, [theta])
        history.append(loss.item())
        bar.set_postfix(objective=f"{history[-1]:.6f}", refresh=False)
        bar.update()
        return history[-1], gradient.numpy()

    with tqdm(disable=not progress, unit="evaluation") as bar:
        result = minimize(
            objective,
            np.log(list(HYPERPARAMETERS.values())),
            jac=True,
            method="L-BFGS-B",
            bounds=[LOG_BOUNDS] * len(HYPERPARAMETERS),
            options={"maxiter": max_iterations, "ftol": 1e-12, "gtol": 1e-5},
        )
    return Fit(backend, result.x, float(result.fun), history, years, values)


def plot(fitted, years, values, path):
    """Save the record and the predictive band (two standard deviations) as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ahead = np.arange(HELD_OUT_FROM - 2, years[-1] + 8, 1 / 24)
    mean, deviation = fitted.predict(ahead)
    held_out = years >= HELD_OUT_FROM
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    axes.plot(years[~held_out], values[~held_out], "k.", markersize=2, label="observed")
    axes.plot(years[held_out], values[held_out], "r.", markersize=3, label="held out")
    axes.plot(ahead, mean, linewidth=0.8, label="prediction")
    axes.fill_between(ahead, mean - 2 * deviation, mean + 2 * deviation, alpha=0.3, label="2 s.d.")
    axes.set(xlabel="year", ylabel="CO2 [ppm]", title="Mauna Loa")
    axes.legend(loc="upper left")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=["wengert", "torch"], default="wengert")
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--plot", metavar="PATH", help="save the predictive band there")
    options = parser.parse_args(arguments)

    fitted = fit(options.backend, max_iterations=options.iterations, progress=True)
    print(f"log marginal likelihood {-fitted.objective:.6f}, {len(fitted.history)} evaluations")
    for name, value in zip(HYPERPARAMETERS, np.exp(fitted.log_hyperparameters), strict=True):
        print(f"  {name:30} {value:10.4g}")

    years, values = load_data()
    held_out = years >= HELD_OUT_FROM
    mean, deviation = fitted.predict(years[held_out])
    error = values[held_out] - mean
    inside = np.mean(np.abs(error) < 2 * deviation)
    print(f"held-out years: error {np.sqrt(np.mean(error**2)):.3f} ppm (root mean square), "
          f"{inside:.0%} within two standard deviations")  # fmt: skip
    if options.plot:
        plot(fitted, years, values, options.plot)
        print(f"predictive band saved to {options.plot}")


if __name__ == "__main__":
    main()
