"""Sparse alternatives to softmax by entmax, with gradients: sorting, bisection and losses."""

import torch
from common import numbers, show
from entmax import (
    budget_bisect,
    entmax15,
    entmax15_loss,
    entmax_bisect,
    normmax_bisect,
    sparsemax,
    sparsemax_bisect,
    sparsemax_loss,
)  # fmt: skip

torch.set_default_dtype(torch.float64)

x, weights, target = numbers(1, 4, 6).requires_grad_(), numbers(2, 4, 6), torch.tensor([0, 5, 2, 2])
for function in (
    sparsemax, entmax15, sparsemax_bisect, lambda x: entmax_bisect(x, alpha=1.3),
    lambda x: normmax_bisect(x, alpha=3.0), lambda x: budget_bisect(x, budget=2), lambda x: sparsemax(x, dim=0, k=3),
):  # fmt: skip
    value = function(x)
    show(value, *torch.autograd.grad((value * weights).sum(), x))
for loss in (sparsemax_loss, entmax15_loss):
    value = loss(x, target).sum()
    show(value, *torch.autograd.grad(value, x))
alpha = torch.tensor(1.4, requires_grad=True)
show(*torch.autograd.grad((entmax_bisect(x, alpha) * weights).sum(), alpha))
