"""The solution of an equation as a function of its parameters, with both modes and all orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..._C import stack
from ...autograd import Function, no_grad
from ._operator import Operator
from ._products import Residual, Tensors, pull, push

Solve = Callable[[Tensors, Tensors], Tensors]  # (x0, p) -> x, with numbers
Inverse = Callable[[Tensors, bool], Tensors]  # (right-hand side, whether with the transpose) -> solution, with numbers


@dataclass
class Problem:
    """F(x, p) = 0, for one value of p."""

    residual: Residual
    solve: Solve
    make_inverse: Callable[[Tensors, Tensors], Inverse]  # (x, p) -> that of dF/dx
    starts: int = 0  # values before p: where the solver starts
    _inverse: Inverse | None = None

    def inverse(self, x: Tensors, p: Tensors) -> Inverse:
        if self._inverse is None:
            self._inverse = self.make_inverse(x, p)
        return self._inverse


class Solution(Function):
    """x(p)."""

    @staticmethod
    def forward(problem: Problem, *given: Any) -> Any:
        starts = [start.detach() for start in given[: problem.starts]]
        with no_grad():
            return tuple(value.detach() for value in problem.solve(starts, list(given[problem.starts :])))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.problem = inputs[0]
        p = inputs[1 + ctx.problem.starts :]
        ctx.unknowns = len(output)
        ctx.save_for_backward(*output, *p)
        ctx.save_for_forward(*output, *p)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], problem: Problem, *given: Any) -> Any:
        """Solve for one sample after the other: solvers work with numbers."""
        samples = [
            Solution.apply(
                replace(problem, _inverse=None),
                *(v if dim is None else v.select(dim, i) for v, dim in zip(given, in_dims[1:], strict=True)),
            )
            for i in range(info.batch_size)
        ]
        return tuple(stack(values) for values in zip(*samples, strict=True)), 0

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        x, p = _saved(ctx)
        residual = ctx.problem.residual
        weights = linear_solution(ctx.problem, x, p, list(cotangents), transposed=True)
        products = pull(residual, x, p, weights, by_x=False)
        before = 1 + ctx.problem.starts
        needed = ctx.needs_input_grad[before:]
        return (
            *(None,) * before,
            *(-product if need else None for product, need in zip(products, needed, strict=True)),
        )

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        x, p = _saved(ctx)
        known = [v * 0 if t is None else t for t, v in zip(tangents[ctx.problem.starts :], p, strict=True)]
        change = push(ctx.problem.residual, x, p, known, by_x=False)
        return tuple(-value for value in linear_solution(ctx.problem, x, p, change, transposed=False))


def _saved(ctx: Any) -> tuple[Tensors, Tensors]:
    saved = list(ctx.saved_tensors)
    return saved[: ctx.unknowns], saved[ctx.unknowns :]


def linear_solution(problem: Problem, x: Tensors, p: Tensors, rhs: Tensors, transposed: bool) -> Tensors:
    """Return v with (dF/dx) v = rhs, or with the transpose, as a differentiable function of x, p and rhs."""
    first, second = len(x), len(x) + len(p)
    inverse = problem.inverse(x, p)
    apply = pull if transposed else push

    def residual(v: Tensors, given: Tensors) -> Tensors:
        products = apply(problem.residual, given[:first], given[first:second], v, by_x=True)
        return [product - value for product, value in zip(products, given[second:], strict=True)]

    def solve(_: Tensors, given: Tensors) -> Tensors:
        return inverse(given[second:], transposed)

    system = Problem(residual, solve, lambda v, given: lambda rhs, again: inverse(rhs, again != transposed))
    return list(Solution.apply(system, *x, *p, *rhs))


def solution(residual: Residual, solve: Solve, x0: Tensors, p: Tensors, linear_solver: Any, iterative: str) -> Tensors:
    """Return the solution of an equation, differentiable by `p`."""

    def inverse(x: Tensors, p: Tensors) -> Inverse:
        return Operator(residual, x, p, linear_solver, iterative).solve

    return list(Solution.apply(Problem(residual, solve, inverse, len(x0)), *x0, *p))
