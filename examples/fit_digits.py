"""Handwritten digits: a small convolutional network.

Shows the everyday training loop: a functional model over a dictionary of leaf tensors, mini-batches,
`backward` and `wengert.optim.Adam`. The same script runs on PyTorch with ``--backend torch``: names
and semantics are the same, and since the weights come from a NumPy generator and everything is
float64, so is the loss curve.

Data: 1,797 images of 8x8 pixels, bundled with scikit-learn; the test part of E. Alpaydin and
C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository (1998). A fifth
is held out. The network is a narrow LeNet (Y. LeCun et al., Gradient-based learning applied to
document recognition, 1998) with rectifiers; weights follow K. He et al. (2015).

    python examples/fit_digits.py --plot digits.png
"""

import argparse
import time
from importlib import import_module

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

SHAPES = {
    "conv1": (16, 1, 3, 3),
    "conv2": (32, 16, 3, 3),
    "hidden": (64, 32 * 4 * 4),
    "output": (10, 64),
}


def load_data(generator):
    """Shuffle the digits and split them into four fifths and one held-out fifth.

    Returns
    -------
    tuple of (images, labels)
        Two of them; images are float64 [N,1,8,8] of roughly unit scale, labels int64 [N].
    """
    digits = load_digits()
    order = generator.permutation(len(digits.target))
    images = (digits.images[order, None] - 5.0) / 6.0
    labels = digits.target[order].astype(np.int64)
    held_out = len(order) // 5
    return (images[held_out:], labels[held_out:]), (images[:held_out], labels[:held_out])


def initial_parameters(wg, generator):
    """Leaf tensors by layer: He-normal weights, zero biases."""
    parameters = {}
    for layer, shape in SHAPES.items():
        fan_in = np.prod(shape[1:])
        weight = generator.standard_normal(shape) * np.sqrt(2.0 / fan_in)
        parameters[f"{layer}.weight"] = wg.tensor(weight, requires_grad=True)
        parameters[f"{layer}.bias"] = wg.tensor(np.zeros(shape[0]), requires_grad=True)
    return parameters


def logits(nn, parameters, images):
    """Class scores [N,10] of images [N,1,8,8]."""

    def layer(name):
        return parameters[f"{name}.weight"], parameters[f"{name}.bias"]

    x = nn.relu(nn.conv2d(images, *layer("conv1"), padding=1))  # [N,16,8,8]
    x = nn.relu(nn.conv2d(x, *layer("conv2"), padding=1))  # [N,32,8,8]
    x = nn.max_pool2d(x, 2).flatten(1)  # [N,512]
    x = nn.relu(nn.linear(x, *layer("hidden")))
    return nn.linear(x, *layer("output"))


def train(backend="wengert", epochs=12, seed=0, batch_size=64, limit=None, progress=False):
    """Fit the network.

    Parameters
    ----------
    backend : {"wengert", "torch"}
        The package to compute with.
    epochs : int
        Passes over the training images.
    seed : int
        Of the generator that splits and shuffles the data and draws the weights.
    batch_size : int
        Images per step.
    limit : int, optional
        Use only so many training images.
    progress : bool
        Show a progress bar.

    Returns
    -------
    losses : list of float
        Cross-entropy of every mini-batch, in order.
    accuracy : float
        Share of the held-out images that are classified correctly.
    """
    wg = import_module(backend)
    nn = import_module(f"{backend}.nn.functional")
    optim = import_module(f"{backend}.optim")

    generator = np.random.default_rng(seed)
    (images, labels), (test_images, test_labels) = load_data(generator)
    images, labels = images[:limit], labels[:limit]
    parameters = initial_parameters(wg, generator)
    optimizer = optim.Adam(parameters.values(), lr=2e-3)

    losses = []
    starts = range(0, len(images), batch_size)
    with tqdm(total=epochs * len(starts), disable=not progress, unit="step") as bar:
        for _ in range(epochs):
            order = generator.permutation(len(images))
            for start in starts:
                batch = order[start : start + batch_size]
                scores = logits(nn, parameters, wg.tensor(images[batch]))
                loss = nn.cross_entropy(scores, wg.tensor(labels[batch]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                bar.set_postfix(loss=f"{losses[-1]:.4f}", refresh=False)
                bar.update()

    with wg.no_grad():
        predicted = logits(nn, parameters, wg.tensor(test_images)).argmax(1).numpy()
    return losses, float((predicted == test_labels).mean())


def plot(losses, path):
    """Save the loss curve, with a running mean over 20 steps, as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    window = min(20, len(losses))
    smooth = np.convolve(losses, np.full(window, 1 / window), mode="valid")
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.semilogy(losses, color="0.75", label="mini-batch")
    axes.semilogy(np.arange(window - 1, len(losses)), smooth, label=f"mean of {window}")
    axes.set(xlabel="step", ylabel="cross-entropy", title="Handwritten digits")
    axes.legend()
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=["wengert", "torch"], default="wengert")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", metavar="PATH", help="save the loss curve there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    losses, accuracy = train(options.backend, options.epochs, options.seed, progress=True)
    print(f"held-out accuracy {accuracy:.2%} after {len(losses)} steps, last loss {losses[-1]:.4f}")
    print(f"{time.perf_counter() - start:.1f} s")
    if options.plot:
        plot(losses, options.plot)
        print(f"loss curve saved to {options.plot}")


if __name__ == "__main__":
    main()
