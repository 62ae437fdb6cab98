"""Bayesian logistic regression by Hamiltonian Monte Carlo: leapfrog steps, a Metropolis test, an adaptive step."""

import torch
from common import numbers, show
from torch.distributions import Bernoulli, Gamma, Normal
from torch.func import grad_and_value

torch.set_default_dtype(torch.float64)

inputs = numbers(1, 40, 3)
truth = torch.tensor([1.0, -2.0, 0.5])
labels = (inputs @ truth + 0.3 * numbers(2, 40) > 0).double()


def potential(position):
    weights, log_scale = position[:3], position[3]
    scale = log_scale.exp()
    prior = Normal(0.0, scale).log_prob(weights).sum() + Gamma(2.0, 1.0).log_prob(scale) + log_scale
    return -(prior + Bernoulli(logits=inputs @ weights).log_prob(labels).sum())


slope = grad_and_value(potential)


def leapfrog(position, momentum, step, count):
    gradient, _ = slope(position)
    for _ in range(count):
        momentum = momentum - 0.5 * step * gradient
        position = position + step * momentum
        gradient, energy = slope(position)
        momentum = momentum - 0.5 * step * gradient
    return position, momentum, energy


# Random numbers that are the same in both packages.
momenta, thresholds = numbers(3, 30, 4), torch.sigmoid(numbers(4, 30)).log()
position, step, accepted, samples = torch.zeros(4), torch.tensor(0.2), 0, []
energy = potential(position)
for momentum, threshold in zip(momenta, thresholds, strict=True):
    proposal, end, proposed = leapfrog(position, momentum, step, 8)
    log_ratio = energy + 0.5 * momentum @ momentum - proposed - 0.5 * end @ end
    if threshold < log_ratio:
        position, energy, accepted = proposal, proposed, accepted + 1
    step = step * torch.exp(0.1 * (log_ratio.exp().clamp(max=1.0) - 0.8))
    samples.append(position)
    show(energy)
chain = torch.stack(samples[10:])
show(chain.mean(dim=0), chain.std(dim=0), step, torch.tensor(accepted))
show(torch.func.hessian(potential)(position))
