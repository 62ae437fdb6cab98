"""A hidden Markov model of changing volatility: its likelihood by the forward algorithm, its states by Viterbi's."""

import torch
from common import numbers, show
from torch.distributions import Categorical, Dirichlet, MixtureSameFamily, Normal, StudentT

torch.set_default_dtype(torch.float64)

series = numbers(1, 60) * torch.where(torch.arange(60) // 15 % 2 == 0, 0.5, 2.0)
names = {"start": (3,), "move": (3, 3), "scale": (3,), "weight": (3, 2)}
parameters = {name: (0.5 * numbers(i, *shape)).requires_grad_() for i, (name, shape) in enumerate(names.items())}


def emissions():
    scale = parameters["scale"].cumsum(0).exp()
    parts = Normal(torch.zeros(3, 2), torch.stack([scale, 2 * scale], dim=1))
    mixed = MixtureSameFamily(Categorical(logits=parameters["weight"]), parts).log_prob(series[:, None])
    return torch.logaddexp(mixed, StudentT(4.0, 0.0, scale).log_prob(series[:, None])) - torch.tensor(2.0).log()


def log_likelihood(log_emission):
    move = parameters["move"].log_softmax(-1)
    alpha = parameters["start"].log_softmax(-1) + log_emission[0]
    for row in log_emission[1:]:
        alpha = torch.logsumexp(alpha[:, None] + move, dim=0) + row
    return alpha.logsumexp(0)


def best_path(log_emission):
    move, back = parameters["move"].log_softmax(-1), []
    score = parameters["start"].log_softmax(-1) + log_emission[0]
    for row in log_emission[1:]:
        best = (score[:, None] + move).max(dim=0)
        back.append(best.indices)
        score = best.values + row
    path = [score.argmax()]
    for pointer in reversed(back):
        path.append(pointer[path[-1]])
    return torch.stack(path[::-1])


optimizer = torch.optim.Adam(list(parameters.values()), lr=0.05)
for _ in range(8):
    optimizer.zero_grad()
    prior = Dirichlet(torch.full((3,), 2.0)).log_prob(parameters["move"].softmax(-1)).sum()
    loss = -(log_likelihood(emissions()) + prior)
    loss.backward()
    optimizer.step()
    show(loss)
show(*parameters.values(), best_path(emissions()))
(posterior,) = torch.autograd.grad(log_likelihood(table := emissions().detach().requires_grad_()), table)
show(posterior.sum(dim=1))
