"""Carbon dioxide at Mauna Loa: Gaussian-process regression by marginal likelihood.

Shows derivatives through a Cholesky factorization and triangular solves, handed to SciPy's L-BFGS-B
as exact gradients of the log marginal likelihood with respect to eight hyperparameters. The same
script runs on PyTorch with ``--backend torch`` and ends at the same optimum.

Data: monthly means of atmospheric CO2 in parts per million, 1958 to 2001, bundled with statsmodels
(C. D. Keeling and T. P. Whorf, Scripps Institution of Oceanography, 2004). Years from 1997 on are
held out and predicted: about 95 % of them should lie, and do, within two standard deviations.

The model is a sum, as in C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine
Learning (2006), section 5.4.3: trend, season, irregularities and noise. The trend is a parabola whose
coefficients are integrated out (section 2.7), since a stationary one would fall back to its mean in the
years to come; irregularities are rough (Matern 3/2, equation 4.17), so that the band widens as it should.
The gradient is equation 5.9, which automatic differentiation finds by itself.

    python examples/gaussian_process.py --plot co2.png
"""

import argparse
import math
import time
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from scipy.optimize import minimize
from tqdm import tqdm

HELD_OUT_FROM = 1997.0

# Name, unit and starting value of each hyperparameter; optimized as its logarithm.
HYPERPARAMETERS = {
    "season amplitude [ppm]": 2.4,
    "season decay [years]": 90.0,
    "season smoothness": 1.3,
    "irregularity amplitude [ppm]": 0.66,
    "irregularity scale [years]": 1.2,
    "short noise amplitude [ppm]": 0.18,
    "short noise scale [years]": 0.13,
    "white noise amplitude [ppm]": 0.19,
}
LOG_BOUNDS = (math.log(1e-2), math.log(1e3))

# The trend: what its three coefficients may be (standard deviations, in ppm), and the time in which they are counted.
TREND_COEFFICIENTS = (100.0, 50.0, 10.0)
TREND_ORIGIN, TREND_UNIT = 1978.0, 20.0  # years


def load_data():
    """Times in years [N] and monthly mean concentrations in ppm [N], months without data left out."""
    from statsmodels.datasets import co2

    monthly = co2.load_pandas().data["co2"].resample("MS").mean().dropna()
    years = monthly.index.year + (monthly.index.month - 0.5) / 12
    return years.to_numpy(np.float64), monthly.to_numpy(np.float64)


def covariance(wg, log_hyperparameters, distance):
    """Covariance of the process without trend and noise at `distance` years, and the variance of white noise.

    The sum of a season that drifts in shape, irregularities over years and noise correlated over weeks.
    """
    season, decay, smoothness, irregular, scale, short, short_scale, white = wg.exp(log_hyperparameters).unbind()
    half_wave = wg.sin(math.pi * distance)
    reach = math.sqrt(3.0) * distance / scale
    process = (
        season**2 * wg.exp(-0.5 * (distance / decay) ** 2 - 2.0 * (half_wave / smoothness) ** 2)
        + irregular**2 * (1.0 + reach) * wg.exp(-reach)
        + short**2 * wg.exp(-distance / short_scale)
    )
    return process, white**2


def trend(years):
    """The features [N,3] of the trend, scaled so that their coefficients are standard normal."""
    time = (years - TREND_ORIGIN) / TREND_UNIT
    return np.stack([size * time**power for power, size in enumerate(TREND_COEFFICIENTS)], axis=1)


class Observations:
    """What does not change while the hyperparameters do: the observations, and the distances between them.

    Months are equally spaced, so N * N distances have few different values: kernels are computed on those, and indexed.
    """

    def __init__(self, wg, years, values):
        apart = np.round(np.abs(years[:, None] - years), 6)
        distances, index = np.unique(apart, return_inverse=True)
        self.distances = wg.tensor(distances)
        self.index = wg.tensor(index.reshape(apart.shape))  # [N,N]
        self.trend = wg.tensor(trend(years) @ trend(years).T)  # [N,N]
        self.identity = wg.eye(len(years), dtype=wg.float64)
        self.values = wg.tensor(values)[:, None]  # [N,1]


def factorize(wg, log_hyperparameters, observed):
    """Lower Cholesky factor [N,N] of the covariance of the observations, and what it makes of their values [N,1]."""
    process, noise = covariance(wg, log_hyperparameters, observed.distances)
    factor = wg.linalg.cholesky(observed.trend + process[observed.index] + noise * observed.identity)
    return factor, wg.linalg.solve_triangular(factor, observed.values, upper=False)


def negative_log_likelihood(wg, log_hyperparameters, observed):
    """Minus the log marginal likelihood of the observations."""
    factor, whitened = factorize(wg, log_hyperparameters, observed)
    log_determinant = 2.0 * factor.diagonal().log().sum()
    return 0.5 * ((whitened * whitened).sum() + log_determinant + len(factor) * math.log(2.0 * math.pi))


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
        theta, offset = wg.tensor(self.log_hyperparameters), self.values.mean()
        factor, whitened = factorize(wg, theta, Observations(wg, self.years, self.values - offset))
        between = wg.tensor(np.abs(self.years[:, None] - at))  # [N,M]
        cross = covariance(wg, theta, between)[0] + wg.tensor(trend(self.years) @ trend(at).T)
        weights = wg.linalg.solve_triangular(factor, cross, upper=False)  # [N,M]
        prior, noise = covariance(wg, theta, wg.zeros(len(at), dtype=wg.float64))
        mean = offset + (weights * whitened).sum(0)
        variance = prior + noise + wg.tensor(trend(at)).square().sum(1) - (weights * weights).sum(0)
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
    observed = Observations(wg, years, values - values.mean())
    history = []

    def objective(point):
        theta = wg.tensor(point, requires_grad=True)
        loss = negative_log_likelihood(wg, theta, observed)
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

    start = time.perf_counter()
    fitted = fit(options.backend, max_iterations=options.iterations, progress=True)
    seconds = time.perf_counter() - start
    print(f"log marginal likelihood {-fitted.objective:.6f}, {len(fitted.history)} evaluations in {seconds:.1f} s")
    for name, value in zip(HYPERPARAMETERS, np.exp(fitted.log_hyperparameters), strict=True):
        print(f"  {name:28} {value:10.4g}")

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
