"""A Gaussian process with a periodic kernel, fitted by its marginal likelihood, and by a sparse bound on it."""

import math

import torch
from common import numbers, show

torch.set_default_dtype(torch.float64)

x = torch.linspace(0, 3, 40)
y = torch.sin(2 * math.pi * x) + 0.3 * x + 0.1 * numbers(1, 40)


def kernel(a, b, theta):
    apart = torch.cdist(a[:, None], b[:, None])
    smooth = theta[0].exp() * torch.exp(-0.5 * (apart / theta[1].exp()) ** 2)
    return smooth + theta[2].exp() * torch.exp(-2 * torch.sin(math.pi * apart) ** 2 / theta[3].exp() ** 2)


def exact(theta):
    covariance = kernel(x, x, theta) + theta[4].exp() * torch.eye(len(x))
    return -torch.distributions.MultivariateNormal(torch.zeros(len(x)), covariance).log_prob(y)


def sparse(theta):
    inducing = x[::4]
    factor = torch.linalg.cholesky(kernel(inducing, inducing, theta) + 1e-6 * torch.eye(len(inducing)))
    half = torch.linalg.solve_triangular(factor, kernel(inducing, x, theta), upper=False)
    low_rank = torch.distributions.LowRankMultivariateNormal(torch.zeros(len(x)), half.T, theta[4].exp().expand(len(x)))
    lost = (theta[0].exp() + theta[2].exp()) * len(x) - half.square().sum()
    return -low_rank.log_prob(y) + 0.5 * lost / theta[4].exp()


for objective in (exact, sparse):
    theta = torch.tensor([0.0, 0.0, -1.0, 0.0, -2.0], requires_grad=True)
    optimizer = torch.optim.Rprop([theta], lr=0.05)
    for _ in range(8):
        optimizer.zero_grad()
        loss = objective(theta)
        loss.backward()
        optimizer.step()
        show(loss)
    show(theta, torch.autograd.functional.hessian(objective, theta.detach()))

theta = theta.detach()
factor = torch.linalg.cholesky(kernel(x, x, theta) + theta[4].exp() * torch.eye(len(x)))
there = torch.linspace(2.5, 3.5, 5)
cross = kernel(x, there, theta)
show(cross.T @ torch.cholesky_solve(y[:, None], factor))
show(kernel(there, there, theta).diag() - torch.linalg.solve_triangular(factor, cross, upper=False).square().sum(0))
