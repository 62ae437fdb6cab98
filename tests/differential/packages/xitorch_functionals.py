"""Functionals of xitorch with gradients of two orders: roots, minima, eigenvalues, solutions, integrals."""

import torch
import xitorch
from common import numbers, show
from xitorch.integrate import quad, solve_ivp
from xitorch.interpolate import Interp1D
from xitorch.linalg import lsymeig, solve, svd
from xitorch.optimize import minimize, rootfinder

torch.set_default_dtype(torch.float64)


def two_orders(value, leaf):
    (first,) = torch.autograd.grad(value.sum(), leaf, create_graph=True)
    show(value, first, *torch.autograd.grad((first**2).sum(), leaf))


a = (torch.eye(4) * 3 + 0.3 * numbers(1, 4, 4)).requires_grad_()
two_orders(solve(xitorch.LinearOperator.m(a @ a.T, is_hermitian=True), numbers(2, 4, 1)), a)
values, _ = lsymeig(xitorch.LinearOperator.m(a @ a.T, is_hermitian=True), neig=2)
two_orders(values, a)
_, singular, _ = svd(xitorch.LinearOperator.m(a), k=2)
two_orders(singular, a)

b = numbers(3, 4).requires_grad_()
two_orders(rootfinder(lambda y, b: y**3 + y - b, torch.zeros(4), params=(b,), f_tol=1e-12), b)
two_orders(minimize(lambda y, b: ((y - b) ** 4 + (y - b) ** 2).sum(), torch.zeros(4), params=(b,), f_tol=1e-12), b)
two_orders(quad(lambda x, b: torch.exp(-b * b * x), torch.tensor(0.0), torch.tensor(1.0), params=(b,)), b)
two_orders(solve_ivp(lambda t, y, b: -b * y + t, torch.linspace(0, 1, 3), torch.ones(4), params=(b,)), b)
two_orders(Interp1D(torch.linspace(0, 1, 4), b**3, method="cspline")(torch.tensor([0.1, 0.45, 0.9])), b)
