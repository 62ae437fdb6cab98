"""A normalizing flow of coupling layers, with parametrized orthogonal mixing, fitted to two moons."""

import torch
from common import fill, show
from sklearn.datasets import make_moons
from torch import distributions as D
from torch import nn
from torch.nn.utils.parametrizations import orthogonal

torch.set_default_dtype(torch.float64)

data = torch.as_tensor(make_moons(96, noise=0.05, random_state=0)[0])


class Coupling(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.ELU(), nn.Linear(16, 2))
        self.mix = orthogonal(nn.Linear(2, 2, bias=False), orthogonal_map="cayley", use_trivialization=False)

    def forward(self, x):
        kept, moved = self.mix(x).split(1, dim=-1)
        log_scale, shift = self.net(kept).unbind(-1)
        log_scale = torch.tanh(log_scale)
        return torch.cat([kept, moved * log_scale.exp()[:, None] + shift[:, None]], -1), log_scale


layers = fill(nn.ModuleList([Coupling() for _ in range(4)]))
base = D.MultivariateNormal(torch.zeros(2), torch.eye(2))
optimizer = torch.optim.NAdam(layers.parameters(), lr=1e-2)
for _ in range(10):
    x, log_det = data, torch.zeros(len(data))
    for layer in layers:
        x, change = layer(x)
        log_det = log_det + change
    loss = -(base.log_prob(x) + log_det).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    show(loss)
show(x, *layers.parameters())
