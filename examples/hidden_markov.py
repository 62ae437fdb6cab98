"""Hidden Markov model: recessions, from the growth of an economy alone.

Shows that derivatives can be the answer itself. The forward algorithm computes how likely a series is; the gradient of
that with respect to the log-likelihoods of single observations is the posterior probability of each state at each
time, which books derive as a second, backward recursion. The Hessian gives standard errors, and the optimizer's Newton
steps.

Two states, each with a mean growth, and normal noise, as in J. D. Hamilton, Econometrica 57 (1989) 357-384. Data: real
gross domestic product of the United States by quarter, 1959 to 2009, bundled with statsmodels. Recessions to compare
with, which the model does not see, are those dated by the National Bureau of Economic Research.

    python examples/hidden_markov.py --plot recessions.png
"""

import argparse
import time

import numpy as np
from tqdm import tqdm

import wengert as wg

RECESSIONS = (  # from the quarter of the peak to that of the trough, as years
    (1960.25, 1961.0), (1969.75, 1970.75), (1973.75, 1975.0), (1980.0, 1980.5),
    (1981.5, 1982.75), (1990.5, 1991.0), (2001.0, 2001.75), (2007.75, 2009.25),
)  # fmt: skip
START = {"means": [-0.5, 1.0], "log_scale": -0.3, "logits": [[1.0, -1.0], [-1.5, 1.5]]}


def load_data():
    """Times [T] and growth in percent for each quarter [T]."""
    from statsmodels.datasets import macrodata

    table = macrodata.load_pandas().data
    years = table["year"] + (table["quarter"] - 1) / 4
    return years.to_numpy()[1:], 100 * np.diff(np.log(table["realgdp"].to_numpy()))


def in_recession(years):
    return np.any([(years > start) & (years <= end) for start, end in RECESSIONS], axis=0)


def log_emissions(model, growth):
    """Logarithm of the density of each observation in each state [T,2]."""
    z = (growth[:, None] - model["means"]) * (-model["log_scale"]).exp()
    return -0.5 * z.square() - model["log_scale"] - 0.5 * np.log(2 * np.pi)


def log_likelihood(model, emissions):
    """The forward algorithm: sums over all paths of states, in logarithms."""
    moves = model["logits"].log_softmax(1)  # [from,to]
    stationary = wg.stack([moves[1, 0], moves[0, 1]]).log_softmax(0)
    ahead = stationary + emissions[0]
    for emission in emissions[1:].unbind():
        ahead = (ahead[:, None] + moves).logsumexp(0) + emission
    return ahead.logsumexp(0)


def fit(growth, iterations=100, progress=False):
    """Find the most likely model by Newton's method with trust regions; return it and SciPy's result."""
    growth = wg.tensor(growth)
    start = {name: wg.tensor(value, dtype=wg.float64) for name, value in START.items()}

    def objective(model):
        weak_prior = 0.01 * model["logits"].square().sum()  # only differences in a row matter
        return -log_likelihood(model, log_emissions(model, growth)) + weak_prior

    with tqdm(total=iterations, disable=not progress, unit="iteration") as bar:

        def callback(intermediate_result):
            bar.set_postfix(objective=f"{intermediate_result.fun:.4f}", refresh=False)
            bar.update()

        result = wg.optimize.minimize(
            objective, start, method="trust-exact", callback=callback, options={"maxiter": iterations}
        )
    return result.x, objective, result


def posterior(model, growth):
    """Probability of each state at each time [T,2]: a gradient."""
    emissions = log_emissions(model, wg.tensor(growth))
    return wg.func.grad(log_likelihood, argnums=1)(model, emissions)


def standard_errors(model, objective):
    """Of all parameters, as a tree like the model: from the inverse of the Hessian."""
    flat, rebuild = wg.utils.pytree.ravel_pytree(model)
    hessian = wg.func.hessian(lambda parameters: objective(rebuild(parameters)))(flat)
    return rebuild(wg.linalg.inv(hessian).diagonal().sqrt())


def plot(years, growth, recession, path):
    """Save growth and the probability of recession as an image; NBER's recessions are shaded."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", sharex=True)
    for ax in axes:
        for start, end in RECESSIONS:
            ax.axvspan(start, end, color="0.85", linewidth=0)
    axes[0].bar(years, growth, width=0.22, color=np.where(growth < 0, "C3", "C0"))
    axes[0].set(ylabel="growth [%]", title="Real gross domestic product, United States")
    axes[1].fill_between(years, recession, color="C1", alpha=0.7, step="mid")
    axes[1].set(ylabel="P(recession)", ylim=(0, 1), xlabel="year; official recessions are shaded")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--plot", metavar="PATH", help="save the probabilities there")
    options = parser.parse_args(arguments)

    years, growth = load_data()
    start = time.perf_counter()
    model, objective, result = fit(growth, options.iterations, progress=True)
    errors = standard_errors(model, objective)
    low = int(model["means"].argmin())
    recession = posterior(model, growth)[:, low].numpy()
    seconds = time.perf_counter() - start
    stay = model["logits"].softmax(1).diagonal()
    for name, state in (("recession", low), ("expansion", 1 - low)):
        mean, error = model["means"][state].item(), errors["means"][state].item()
        print(
            f"{name}: growth {mean:.2f} +- {error:.2f} % a quarter, lasts {1 / (1 - stay[state].item()):.1f} quarters"
        )
    agree = np.mean((recession > 0.5) == in_recession(years))
    print(f"agrees with the official dating in {agree:.0%} of {len(years)} quarters")
    print(f"{result.nit} Newton steps in {seconds:.1f} s")
    if options.plot:
        plot(years, growth, recession, options.plot)
        print(f"probabilities saved to {options.plot}")


if __name__ == "__main__":
    main()
