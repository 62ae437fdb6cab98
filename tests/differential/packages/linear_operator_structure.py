"""Structured matrices of linear_operator: solutions, log-determinants and their gradients."""

import torch
from common import numbers, show
from linear_operator import operators as ops
from linear_operator import settings, to_linear_operator

torch.set_default_dtype(torch.float64)

rhs = numbers(9, 6, 2)


def spd(seed, size):
    half = numbers(seed, size, size)
    return half @ half.T + size * torch.eye(size)


def examine(build, *leaves):
    leaves = [leaf.requires_grad_() for leaf in leaves]
    operator = build(*leaves)
    solution, (quadratic, log_det) = operator.solve(rhs), operator.inv_quad_logdet(rhs, logdet=True)
    loss = (solution**2).sum() + quadratic + log_det + operator.diagonal().sum() + (operator @ rhs).sum()
    show(operator.to_dense(), solution, quadratic, log_det, *torch.autograd.grad(loss, leaves))


examine(to_linear_operator, spd(1, 6))
examine(lambda a, d: to_linear_operator(a) + ops.DiagLinearOperator(d.exp()), spd(1, 6), numbers(2, 6))
examine(
    lambda a, b: ops.KroneckerProductLinearOperator(to_linear_operator(a), to_linear_operator(b)), spd(3, 2), spd(4, 3)
)
examine(
    lambda u, d: ops.LowRankRootLinearOperator(u) + ops.DiagLinearOperator(d.exp()), numbers(5, 6, 2), numbers(6, 6)
)
examine(lambda c: ops.ToeplitzLinearOperator(c) + ops.ConstantDiagLinearOperator(torch.ones(1) * 5, 6), numbers(7, 6))
examine(lambda a, b: ops.BlockDiagLinearOperator(to_linear_operator(torch.stack([a, b]))), spd(3, 3), spd(4, 3))
with settings.max_cholesky_size(1), settings.cg_tolerance(1e-10), settings.fast_computations(log_prob=False):
    matrix = spd(8, 6).requires_grad_()
    solution = to_linear_operator(matrix).solve(rhs)
    show(solution, *torch.autograd.grad((solution**2).sum(), matrix))
