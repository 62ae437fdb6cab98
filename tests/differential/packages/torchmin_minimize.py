"""Rosenbrock's function and a least-squares problem by pytorch-minimize."""

import torch
from common import show
from torchmin import Minimizer, least_squares, minimize, minimize_constr

torch.set_default_dtype(torch.float64)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


start = torch.tensor([1.3, 0.7, 0.8, 1.9, 1.2])
for method in ("bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg", "trust-exact"):
    found = minimize(rosenbrock, start, method=method, max_iter=8)
    show(found.fun, found.x)

bounded = minimize_constr(rosenbrock, start, bounds=(0.0, 0.9), max_iter=40)
show(bounded.x.round(decimals=4))


def residual(x):
    t = torch.linspace(0, 3, 20)
    return x[0] * torch.exp(-x[1] * t) - 2 * torch.exp(-0.7 * t)


fitted = least_squares(residual, torch.tensor([1.0, 1.0]), tr_solver="exact")
show(fitted.x)

x = torch.nn.Parameter(start.clone())
optimizer = Minimizer([x], method="bfgs", max_iter=10)
show(optimizer.step(lambda: rosenbrock(x)), x)
