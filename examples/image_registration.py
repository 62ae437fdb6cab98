"""Image registration: two photographs of one flower, brought into line.

Shows derivatives through an interpolation: a photograph is turned, sheared, scaled and shifted by an affine map, its
brightness and contrast changed, noise added. The map is found again by maximizing the correlation of the images, from
blurred to sharp, with gradients through `affine_grid` and `grid_sample`.

Data: the photograph "flower", bundled with scikit-learn. It is moved by SciPy's cubic splines, and found with bilinear
interpolation, so that the same errors do not cancel. The method: B. D. Lucas and T. Kanade, IJCAI 1981; correlation as
in G. D. Evangelidis and E. Z. Psarakis, IEEE Transactions on Pattern Analysis 30 (2008) 1858-1865.

    python examples/image_registration.py --plot flower.png
"""

import argparse
import time

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_sample_image
from tqdm import tqdm

import wengert as wg
from wengert.nn import functional as nn

# Where a point (x, y) of the fixed image lies in the moving one; edges of images are at -1 and 1.
TRUTH = np.array([[0.97, 0.20, 0.08], [-0.16, 0.93, -0.06]])
NOISE = 0.02
BLURS = (8.0, 4.0, 2.0, 0.0)  # pixels


def load_images(every=3, seed=0):
    """The fixed and the moving image [H,W], in grey."""
    fixed = load_sample_image("flower.jpg").mean(2)[::every, ::every] / 255
    scale = 2 / (np.array(fixed.shape) - 1)  # pixels to coordinates: (y, x)
    turn, shift = np.linalg.inv(TRUTH[::-1, 1::-1]), TRUTH[::-1, 2]
    matrix = turn * scale / scale[:, None]
    offset = (turn @ (-1 - shift) + 1) / scale
    moved = ndimage.affine_transform(fixed, matrix, offset, order=3, mode="nearest")
    noise = np.random.default_rng(seed).normal(size=moved.shape) * NOISE
    return fixed, 0.15 + 0.7 * moved.clip(0, 1) ** 1.2 + noise


def warped(image, theta):
    """The image [H,W], read where the map [2,3] says; and which points of it were inside [H,W]."""
    grid = nn.affine_grid(theta[None], [1, 1, *image.shape], align_corners=True)
    inside = (grid[0].abs() < 1).all(-1)
    return nn.grid_sample(image[None, None], grid, align_corners=True)[0, 0], inside


def dissimilarity(theta, fixed, moving):
    """1 minus the correlation of the fixed image and the moved one, where both are known."""
    found, inside = warped(moving, theta)
    weight = inside.to(wg.float64)
    weight = weight / weight.sum()

    def centred(x):
        return x - (weight * x).sum()

    a, b = centred(fixed), centred(found)
    return 1 - (weight * a * b).sum() / ((weight * a * a).sum() * (weight * b * b).sum()).sqrt()


def register(fixed, moving, iterations=40, progress=False):
    """Find the map, from blurred images to sharp ones; return it [2,3] and the dissimilarity at each iteration."""
    theta = wg.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], dtype=wg.float64)
    history = []
    with tqdm(total=iterations * len(BLURS), disable=not progress, unit="iteration") as bar:

        def callback(intermediate_result):
            history.append(float(intermediate_result.fun))
            bar.set_postfix(blur=blur, dissimilarity=f"{history[-1]:.5f}", refresh=False)
            bar.update()

        for blur in BLURS:
            images = tuple(wg.tensor(ndimage.gaussian_filter(image, blur)) for image in (fixed, moving))
            theta = wg.optimize.minimize(
                dissimilarity,
                theta,
                args=images,
                method="BFGS",
                callback=callback,
                options={"maxiter": iterations, "gtol": 1e-7},
            ).x
    return theta.numpy(), history


def displacement(theta, shape):
    """By how many pixels the map misses the truth, on average over the image."""
    y, x = np.meshgrid(np.linspace(-1, 1, shape[0]), np.linspace(-1, 1, shape[1]), indexing="ij")
    off = (theta - TRUTH) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    return float(np.hypot(*(off * (np.array(shape[::-1]) - 1)[:, None] / 2)).mean())


def plot(fixed, moving, theta, path):
    """Save the images and their differences before and after as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found, inside = (part.numpy() for part in warped(wg.tensor(moving), wg.tensor(theta)))
    # Brightness is no matter of the map: fit a parabola of it before comparing.
    bright = np.polyval(np.polyfit(found[inside], fixed[inside], 2), found)
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.2), layout="constrained")
    shown = (
        fixed,
        moving,
        np.polyval(np.polyfit(moving.ravel(), fixed.ravel(), 2), moving) - fixed,
        np.where(inside, bright - fixed, 0),
    )
    titles = ("fixed", "moving", "difference before", "difference after")
    for i, (ax, image, title) in enumerate(zip(axes.flat, shown, titles, strict=True)):
        limits = {"cmap": "gray", "vmin": 0, "vmax": 1} if i < 2 else {"cmap": "RdBu", "vmin": -0.5, "vmax": 0.5}
        ax.imshow(image, **limits)
        ax.set(title=title, xticks=[], yticks=[])
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=3, help="use every so many pixels")
    parser.add_argument("--iterations", type=int, default=40, help="at most, for each blur")
    parser.add_argument("--plot", metavar="PATH", help="save the images there")
    options = parser.parse_args(arguments)

    fixed, moving = load_images(options.every)
    start = time.perf_counter()
    theta, history = register(fixed, moving, options.iterations, progress=True)
    seconds = time.perf_counter() - start
    print(f"the map found: {np.array2string(theta, precision=4).replace(chr(10), '')}")
    print(f"the truth:     {np.array2string(TRUTH, precision=4).replace(chr(10), '')}")
    before, after = displacement(np.eye(2, 3), fixed.shape), displacement(theta, fixed.shape)
    print(f"off by {after:.3f} pixels on average, {before:.1f} before")
    print(f"{len(history)} iterations on {fixed.shape[1]} x {fixed.shape[0]} pixels in {seconds:.1f} s")
    if options.plot:
        plot(fixed, moving, theta, options.plot)
        print(f"images saved to {options.plot}")


if __name__ == "__main__":
    main()
