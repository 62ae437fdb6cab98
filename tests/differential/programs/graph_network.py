"""A graph network with attention over neighbours, by scatters along edges, that classifies the nodes of a graph."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fill, numbers, show

torch.set_default_dtype(torch.float64)

generator = np.random.default_rng(0)
labels = torch.from_numpy(np.repeat(np.arange(3), 12))
linked = generator.random((36, 36)) < np.where(labels[:, None] == labels[None, :], 0.3, 0.03)
source, target = torch.from_numpy(np.stack(np.nonzero(linked | linked.T | np.eye(36, dtype=bool))))
features = numbers(1, 36, 5) + F.one_hot(labels, 5).double()


class Attention(nn.Module):
    def __init__(self, inputs, outputs, heads=2):
        super().__init__()
        self.heads = heads
        self.value = nn.Linear(inputs, heads * outputs, bias=False)
        self.score = nn.Parameter(torch.empty(2, heads, outputs))

    def forward(self, x):
        value = self.value(x).view(len(x), self.heads, -1)
        left, right = (value * self.score[0]).sum(-1), (value * self.score[1]).sum(-1)
        score = F.leaky_relu(left[source] + right[target], 0.2)
        index = target[:, None].expand_as(score)
        highest = torch.full_like(left, -torch.inf).scatter_reduce(0, index, score, "amax")
        weight = (score - highest[target]).exp()
        weight = weight / torch.zeros_like(left).index_add(0, target, weight)[target]
        message = weight[..., None] * value[source]
        return torch.zeros_like(value).index_add_(0, target, message).flatten(1)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Attention(5, 6), Attention(12, 4)
        self.read = nn.Linear(8, 3)

    def forward(self, x):
        return F.log_softmax(self.read(F.elu(self.second(F.elu(self.first(x))))), dim=-1)


model = fill(Network())
known = torch.arange(36) % 3 == 0
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    output = model(features)
    loss = F.nll_loss(output[known], labels[known])
    loss.backward()
    optimizer.step()
    show(loss, F.nll_loss(output[~known], labels[~known]))
show(*(parameter.grad for parameter in model.parameters()))
