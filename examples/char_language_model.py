"""Language model: an LSTM reads Python's standard library a character at a time, and goes on by itself.

Shows modules, a recurrent layer, truncated sequences, gradient clipping, and sampling. A model that knows only how
often each character occurs needs about 4.5 bits for one; what training gets below that is grammar, names and
indentation.

Data: the source of the modules named in `MODULES`, which every Python brings along; the last tenth of each is held
out. The method: A. Graves, "Generating sequences with recurrent neural networks", arXiv:1308.0850 (2013).

    python examples/char_language_model.py --plot language.png
"""

import argparse
import importlib.util
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

import wengert as wg
from wengert import nn

MODULES = (
    "argparse",
    "ast",
    "collections",
    "dataclasses",
    "fractions",
    "functools",
    "random",
    "statistics",
    "textwrap",
)
LENGTH = 64  # characters that a gradient goes back


class Model(nn.Module):
    """Scores of the next character, after each one."""

    def __init__(self, characters, width=128):
        super().__init__()
        self.embed = nn.Embedding(characters, 32)
        self.read = nn.LSTM(32, width, batch_first=True)
        self.score = nn.Linear(width, characters)

    def forward(self, text, state=None):  # [N,T] -> [N,T,characters]
        hidden, state = self.read(self.embed(text), state)
        return self.score(hidden), state


def load_text():
    """The sources as numbers, to learn from and held out, and the characters that the numbers stand for."""
    sources = [Path(importlib.util.find_spec(name).origin).read_text() for name in MODULES]
    sources = ["".join(character if character.isascii() else "?" for character in source) for source in sources]
    characters = sorted(set("".join(sources)))
    number = {character: i for i, character in enumerate(characters)}
    parts = [np.split(np.array([number[c] for c in source]), [len(source) * 9 // 10]) for source in sources]
    seen, held_out = (np.concatenate(part) for part in zip(*parts, strict=True))
    return seen, held_out, characters


def entropy(text):
    """Bits for a character if only their frequencies are known."""
    share = np.bincount(text) / len(text)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def bits(model, windows):
    """Mean bits for a character of windows [N,T+1]."""
    scores, _ = model(windows[:, :-1])
    return nn.functional.cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten()) / np.log(2)


def train(steps=600, batch=32, width=128, seed=0, progress=False):
    """Fit the model; return it, its characters, and the bits of each batch and of the held-out text."""
    wg.manual_seed(seed)
    rng = np.random.default_rng(seed)
    seen, held_out, characters = load_text()
    model = Model(len(characters), width)
    optimizer = wg.optim.Adam(model.parameters(), lr=4e-3)
    schedule = wg.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=4e-4)
    losses = []
    with tqdm(total=steps, disable=not progress, unit="step") as bar:
        for _ in range(steps):
            starts = rng.integers(len(seen) - LENGTH, size=batch)
            loss = bits(model, wg.tensor(seen[starts[:, None] + np.arange(LENGTH + 1)]))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            bar.set_postfix(bits=f"{losses[-1]:.3f}", refresh=False)
            bar.update()
    count = min(200, len(held_out) // (LENGTH + 1))
    with wg.no_grad():
        test = bits(model, wg.tensor(held_out[: count * (LENGTH + 1)].reshape(count, -1))).item()
    return model, characters, losses, test


@wg.no_grad()
def write(model, characters, start="def ", length=300, temperature=0.5):
    """Go on after `start`, drawing each character from the model's distribution."""
    text, state = start, None
    shown = wg.tensor([[characters.index(character) for character in start]])
    for _ in range(length):
        scores, state = model(shown, state)
        shown = wg.multinomial((scores[:, -1] / temperature).softmax(-1), 1)
        text += characters[shown.item()]
    return text


def plot(losses, test, uninformed, path):
    """Save the learning curve as an image."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(losses, linewidth=0.8, label="batches")
    axes.axhline(test, color="C1", label=f"held out: {test:.2f}")
    axes.axhline(uninformed, color="gray", linestyle=":", label="frequencies only")
    axes.set(xlabel="step", ylabel="bits for a character", title="Python's standard library")
    axes.legend()
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--plot", metavar="PATH", help="save the learning curve there")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    model, characters, losses, test = train(options.steps, width=options.width, progress=True)
    uninformed = entropy(load_text()[1])
    print(f"held-out text: {test:.2f} bits for a character, by frequencies {uninformed:.2f}")
    print(f"{len(losses)} steps in {time.perf_counter() - start:.1f} s; it writes:\n")
    print(write(model, characters))
    if options.plot:
        plot(losses, test, uninformed, options.plot)
        print(f"learning curve saved to {options.plot}")


if __name__ == "__main__":
    main()
