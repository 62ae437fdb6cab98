"""Sunspots: a neural differential equation fitted to three centuries of yearly counts.

The sun's activity is described by a hidden state that a small network moves through time, dz/dt = network(z). An
encoder guesses the state from the last few years, a Runge-Kutta scheme integrates it for one solar cycle, and a linear
map reads the activity off. All is learned together, by differentiating through the integration.

Data: yearly mean sunspot numbers 1700 to 2008, bundled with statsmodels (National Geophysical Data Center, USA). The
years from 1960 on are held out and forecast. The method: R. T. Q. Chen et al., "Neural ordinary differential
equations", NeurIPS 2018.

    python examples/neural_ode.py --plot sunspots.png
"""

import argparse
import time

import numpy as np
from tqdm import tqdm

import wengert as wg

HELD_OUT_FROM = 1960
PAST = 9  # years that the encoder sees
HORIZON = 11  # years ahead, about one cycle
STATES = 4
WIDTH = 24


def load_data():
    """Years [N] and activity [N], the square root of the sunspot number (which evens out its noise), scaled."""
    from statsmodels.datasets import sunspots

    table = sunspots.load_pandas().data
    return table["YEAR"].to_numpy(np.int64), np.sqrt(table["SUNACTIVITY"].to_numpy(np.float64)) / 10


def windows(years, activity, held_out):
    """Pasts [N,PAST] and futures [N,HORIZON] of the years before, or after, the start of the held-out ones.

    A future that is trained on ends before the held-out years, one that is tested begins in them.
    """
    pasts, futures = [], []
    for first in range(len(years) - PAST - HORIZON + 1):
        now = first + PAST
        inside = years[now] >= HELD_OUT_FROM if held_out else years[now + HORIZON - 1] < HELD_OUT_FROM
        if inside:
            pasts.append(activity[first:now])
            futures.append(activity[now : now + HORIZON])
    return wg.tensor(np.array(pasts)), wg.tensor(np.array(futures))


def new_parameters(seed=0):
    """Weights of encoder, network and decoder."""
    rng = np.random.default_rng(seed)

    def matrix(rows, columns):
        return wg.tensor(rng.normal(size=(rows, columns)) / np.sqrt(rows), requires_grad=True)

    def vector(size):
        return wg.zeros(size, dtype=wg.float64, requires_grad=True)

    return {
        "encode": (matrix(PAST, WIDTH), vector(WIDTH), matrix(WIDTH, STATES)),
        "move": (matrix(STATES, WIDTH), vector(WIDTH), matrix(WIDTH, STATES)),
        "decode": (matrix(STATES, 1), vector(1)),
    }


def leaves(parameters):
    return [tensor for group in parameters.values() for tensor in group]


def perceptron(weights, x):
    first, offset, second = weights
    return wg.tanh(x @ first + offset) @ second


def forecast(parameters, past, steps=HORIZON):
    """Activity of the coming years [N,steps] from that of the last ones [N,PAST]."""
    read, offset = parameters["decode"]
    z = perceptron(parameters["encode"], past - past.mean(1, keepdim=True))  # [N,STATES]
    found = []
    for _ in range(steps):  # one Runge-Kutta step of order 4 a year
        k1 = perceptron(parameters["move"], z)
        k2 = perceptron(parameters["move"], z + k1 / 2)
        k3 = perceptron(parameters["move"], z + k2 / 2)
        k4 = perceptron(parameters["move"], z + k3)
        z = z + (k1 + 2 * k2 + 2 * k3 + k4) / 6
        found.append(z @ read + offset)
    return wg.cat(found, 1) + past.mean(1, keepdim=True)


def train(iterations=400, rate=0.01, seed=0, progress=False):
    """Fit the model; return its parameters and the mean squared error at each iteration."""
    years, activity = load_data()
    past, future = windows(years, activity, held_out=False)
    parameters = new_parameters(seed)
    optimizer = wg.optim.Adam(leaves(parameters), lr=rate)
    losses = []
    with tqdm(total=iterations, disable=not progress, unit="step") as bar:
        for _ in range(iterations):
            optimizer.zero_grad()
            loss = ((forecast(parameters, past) - future) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            bar.set_postfix(error=f"{losses[-1]:.4f}", refresh=False)
            bar.update()
    return parameters, losses


def held_out_errors(parameters):
    """Root mean square errors on the held-out years: of the model, and of the mean of the past as forecast."""
    past, future = windows(*load_data(), held_out=True)
    with wg.no_grad():
        error = (forecast(parameters, past) - future).square().mean().sqrt().item()
        naive = (past.mean(1, keepdim=True) - future).square().mean().sqrt().item()
    return error, naive


def plot(parameters, path):
    """Save the record and forecasts from some of the held-out years as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    years, activity = load_data()
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    shown = years >= HELD_OUT_FROM - 40
    axes.plot(years[shown], (10 * activity[shown]) ** 2, "k.-", linewidth=0.6, label="observed")
    for start in range(HELD_OUT_FROM, int(years[-1]) - 2, HORIZON):
        now = int(np.searchsorted(years, start))
        with wg.no_grad():
            ahead = forecast(parameters, wg.tensor(activity[None, now - PAST : now]))[0].numpy()
        axes.plot(start + np.arange(HORIZON), (10 * ahead) ** 2, "C1")
    axes.axvline(HELD_OUT_FROM, color="gray", linestyle=":", label="held out from here")
    axes.set(xlabel="year", ylabel="sunspot number", title="Forecasts, one cycle ahead each")
    axes.legend(loc="upper left")
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--plot", metavar="PATH", help="save the forecasts there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    parameters, losses = train(options.iterations, progress=True)
    seconds = time.perf_counter() - start
    error, naive = held_out_errors(parameters)
    print(f"mean squared error: {losses[0]:.4f} before, {losses[-1]:.4f} after {len(losses)} steps")
    print(f"held-out years: error {error:.3f} (root mean square), forecasting the mean {naive:.3f}")
    print(f"{seconds:.1f} s")
    if options.plot:
        plot(parameters, options.plot)
        print(f"forecasts saved to {options.plot}")


if __name__ == "__main__":
    main()
