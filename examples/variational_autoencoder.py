"""Variational autoencoder: a plane of handwritten digits, found without their labels.

Shows modules, distributions with reparametrized samples, and a divergence in closed form: an encoder gives each image
a normal distribution in a plane, a decoder turns points of the plane into images, and the evidence lower bound trains
both at once. Walking through the plane morphs digits into each other.

Data: 1,797 images of 8x8 pixels, bundled with scikit-learn (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository,
1998); a fifth is held out. The method: D. P. Kingma and M. Welling, "Auto-encoding variational Bayes", ICLR 2014.

    python examples/variational_autoencoder.py --plot plane.png
"""

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import wengert as wg
from wengert import nn
from wengert.distributions import Bernoulli, Normal, kl_divergence

PIXELS, LATENT = 64, 2


class Autoencoder(nn.Module):
    """Two perceptrons: images to distributions in the plane, points of the plane to images."""

    def __init__(self, width=128):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(PIXELS, width), nn.GELU(), nn.Linear(width, 2 * LATENT))
        self.decode = nn.Sequential(
            nn.Linear(LATENT, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, PIXELS)
        )

    def posterior(self, images):
        """Where in the plane images [N,64] are: a normal distribution [N,2]."""
        mean, log_scale = self.encode(images).chunk(2, -1)
        return Normal(mean, log_scale.exp())

    def images(self, points):
        """Pixels at points [N,2]: shares of ink, as probabilities [N,64]."""
        return Bernoulli(logits=self.decode(points), validate_args=False)


def evidence(model, images):
    """The lower bound of the log-likelihood of each image [N], by one sample, in nats."""
    posterior = model.posterior(images)
    points = posterior.rsample()
    prior = Normal(wg.zeros(LATENT), wg.ones(LATENT))
    return model.images(points).log_prob(images).sum(-1) - kl_divergence(posterior, prior).sum(-1)


def load_images(seed):
    """Images [N,64] in [0, 1] and digits [N]: those to learn from, and a fifth that is held out."""
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    images = wg.tensor(digits.data[order] / 16, dtype=wg.float32)
    count = len(order) // 5
    return images[count:], images[:count], digits.target[order][:count]


def train(epochs=100, batch=64, seed=0, progress=False):
    """Fit the autoencoder; return it and the mean bound at each epoch."""
    wg.manual_seed(seed)
    images, _, _ = load_images(seed)
    model = Autoencoder()
    optimizer = wg.optim.Adam(model.parameters(), lr=2e-3)
    bounds = []
    with tqdm(total=epochs, disable=not progress, unit="epoch") as bar:
        for _ in range(epochs):
            total = 0.0
            for part in images[wg.randperm(len(images))].split(batch):
                loss = -evidence(model, part).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total -= loss.item() * len(part)
            bounds.append(total / len(images))
            bar.set_postfix(bound=f"{bounds[-1]:.2f}", refresh=False)
            bar.update()
    return model, bounds


def neighbours_agree(points, digits):
    """Share of points [N,2] whose nearest neighbour is the same digit; a tenth by chance."""
    distances = np.linalg.norm(points[:, None] - points, axis=-1)
    np.fill_diagonal(distances, np.inf)
    return float(np.mean(digits[distances.argmin(1)] == digits))


def plot(model, points, digits, path, side=14):
    """Save the held-out images' places, and what the decoder makes of the plane, as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    at = Normal(0.0, 1.0).icdf(wg.linspace(0.02, 0.98, side))
    plane = wg.stack(wg.meshgrid(at.flip(0), at, indexing="ij")[::-1], -1).reshape(-1, LATENT)
    with wg.no_grad():
        pixels = model.images(plane).probs.numpy().reshape(side, side, 8, 8)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.5), layout="constrained")
    shown = left.scatter(*points.T, c=digits, cmap="tab10", s=12)
    figure.colorbar(shown, ax=left, ticks=range(10))
    left.set(title="held-out images in the plane", xlim=(-4, 4), ylim=(-4, 4), aspect="equal")
    right.imshow(pixels.transpose(0, 2, 1, 3).reshape(side * 8, side * 8), cmap="gray_r")
    right.set(title="the plane, decoded", xticks=[], yticks=[])
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--plot", metavar="PATH", help="save the plane there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    model, bounds = train(options.epochs, progress=True)
    _, held_out, digits = load_images(0)
    with wg.no_grad():
        points = model.posterior(held_out).mean.numpy()
        bound = evidence(model, held_out).mean().item()
    print(f"evidence lower bound: {bounds[0]:.1f} nats at first, {bounds[-1]:.1f} at the end, held out {bound:.1f}")
    print(f"nearest neighbours in the plane agree on the digit for {neighbours_agree(points, digits):.0%}")
    print(f"{len(bounds)} epochs in {time.perf_counter() - start:.1f} s")
    if options.plot:
        plot(model, points, digits, options.plot)
        print(f"plane saved to {options.plot}")


if __name__ == "__main__":
    main()
