"""Heat equation: a photograph that diffused away, found again.

Brightness spreads like heat in a plate. Two noisy pictures of the plate are given, taken at different times; wanted are
the picture at the start and the conductivity. The simulation is written for NumPy and knows nothing of derivatives;
`wengert.optimize` finds the few thousand unknowns under which it explains both pictures, with gradients through all
time steps.

Data: the photograph of a Chinese temple bundled with scikit-learn (CC BY, F. Nowakowski), in gray and reduced. The
penalty on the length of edges: L. I. Rudin, S. Osher, E. Fatemi, Physica D 60 (1992).

    python examples/heat_inversion.py --plot plate.png
"""

import argparse
from time import perf_counter

import numpy as np
from tqdm import tqdm

import wengert as wg

CONDUCTIVITY = 0.2  # the truth, in squared pixels a step
TIMES = (4, 8)  # steps after which the pictures are taken
NOISE = 0.005
EDGE_PENALTY = 0.02


def load_data(size=48):
    """The photograph as brightness in [0, 1], of shape [size,size]."""
    from sklearn.datasets import load_sample_image

    gray = load_sample_image("china.jpg").astype(np.float64).mean(2) / 255
    block = min(gray.shape) // size
    rows = gray[: block * size, : block * size].reshape(size, block, size, block)
    return rows.mean((1, 3))


def diffused(u, conductivity, steps):
    """The plate after some steps of the explicit scheme, with insulated edges: for arrays and for tensors."""
    for _ in range(steps):
        rows = np.concatenate([u[:1], u, u[-1:]])
        columns = np.concatenate([u[:, :1], u, u[:, -1:]], axis=1)
        u = u + conductivity * (rows[2:] + rows[:-2] + columns[:, 2:] + columns[:, :-2] - 4 * u)
    return u


def observe(photograph, seed=0):
    """Two noisy pictures of the plate."""
    rng = np.random.default_rng(seed)
    pictures, u, before = [], photograph, 0
    for time in TIMES:
        u = diffused(u, CONDUCTIVITY, time - before)
        before = time
        pictures.append(u + rng.normal(scale=NOISE, size=photograph.shape))
    return pictures


def objective(unknowns, pictures):
    """Minus the log of the posterior density: misfit of both pictures, and the length of edges."""
    u, conductivity = unknowns["picture"], unknowns["conductivity"]
    slopes = (u[1:, :-1] - u[:-1, :-1]) ** 2 + (u[:-1, 1:] - u[:-1, :-1]) ** 2
    penalty = np.sqrt(slopes + 1e-4).sum()
    misfit, before = 0.0, 0
    for time, picture in zip(TIMES, pictures, strict=True):
        u = diffused(u, conductivity, time - before)
        before = time
        misfit = misfit + ((u - picture) ** 2).sum()
    return misfit / (2 * NOISE**2) + EDGE_PENALTY / NOISE * penalty


def invert(pictures, iterations=150, progress=False):
    """Find picture and conductivity; return SciPy's result, with `x` a dict of both."""
    pictures = [wg.tensor(picture) for picture in pictures]
    start = {"picture": pictures[0].numpy(), "conductivity": 0.05}
    bounds = wg.optimize.bounds_like(
        start, lower={"picture": 0.0, "conductivity": 0.001}, upper={"picture": 1.0, "conductivity": 0.25}
    )
    with tqdm(total=iterations, disable=not progress, unit="iteration") as bar:

        def callback(intermediate_result):
            bar.set_postfix(conductivity=f"{intermediate_result.x['conductivity']:.4f}", refresh=False)
            bar.update()

        return wg.optimize.minimize(
            objective,
            start,
            args=(pictures,),
            method="L-BFGS-B",
            bounds=bounds,
            callback=callback,
            options={"maxiter": iterations, "maxcor": 20},
        )


def error(picture, photograph):
    """Root mean square difference."""
    return float(np.sqrt(np.mean((picture - photograph) ** 2)))


def plot(photograph, pictures, found, path):
    """Save the photograph, the pictures and the reconstruction side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
    titles = ("truth", *(f"after {time} steps" for time in TIMES), "reconstruction")
    for ax, title, image in zip(axes, titles, (photograph, *pictures, found), strict=True):
        ax.imshow(image, cmap="gray", vmin=0, vmax=1)
        ax.set(title=title, xticks=[], yticks=[])
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=96, help="pixels along each edge")
    parser.add_argument("--iterations", type=int, default=150)
    parser.add_argument("--plot", metavar="PATH", help="save the pictures there")
    options = parser.parse_args(arguments)

    photograph = load_data(options.size)
    pictures = observe(photograph)
    start = perf_counter()
    result = invert(pictures, options.iterations, progress=True)
    seconds = perf_counter() - start
    found = result.x["picture"]
    print(f"conductivity {result.x['conductivity']:.4f}, truth {CONDUCTIVITY}")
    print(f"error {error(found, photograph):.4f}, of the first picture {error(pictures[0], photograph):.4f}")
    print(f"{result.nit} iterations in {seconds:.1f} s")
    if options.plot:
        plot(photograph, pictures, found, options.plot)
        print(f"pictures saved to {options.plot}")


if __name__ == "__main__":
    main()
