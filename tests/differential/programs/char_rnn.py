"""A recurrent network that learns to write a text, by truncated backpropagation; it writes greedily afterwards."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fill, show

torch.set_default_dtype(torch.float64)

TEXT = "the tape records what was done; the engine reads it backwards. " * 4
letters = sorted(set(TEXT))
codes = torch.tensor([letters.index(letter) for letter in TEXT])


class Writer(nn.Module):
    def __init__(self, kind, size=24):
        super().__init__()
        self.embed = nn.Embedding(len(letters), 12)
        self.rnn = getattr(nn, kind)(12, size, num_layers=2, batch_first=True)
        self.read = nn.Linear(size, len(letters))

    def forward(self, x, state=None):
        hidden, state = self.rnn(self.embed(x), state)
        return self.read(hidden), state


def detached(state):
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


for kind in ("LSTM", "GRU", "RNN"):
    model = fill(Writer(kind))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    state = None
    for start in range(0, 200, 25):
        x, y = codes[None, start : start + 25], codes[None, start + 1 : start + 26]
        scores, state = model(x, state)
        state = detached(state)
        loss = F.cross_entropy(scores.transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        show(loss)
    letter, state, written = codes[None, :1], None, []
    with torch.no_grad():
        for _ in range(10):
            scores, state = model(letter, state)
            letter = scores[:, -1:].argmax(-1)
            written.append(letter.item())
    show(torch.tensor(written))
