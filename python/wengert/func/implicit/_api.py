"""The public functions: trees in, trees out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import wengert

from ...autograd import _forward_ad, no_grad
from .._frames import levels_of, map_physical, plain
from .._leaves import as_tensors, flatten, tensors_of
from ._products import Residual, Tensors, pull
from ._solution import Solve, solution
from ._solvers import anderson, minimum, newton

Solver = Callable[[Callable[[Any], Any], Any], Any]


class _Setting:
    """The function of one call, with its unknowns and parameters as lists, and the way back to trees."""

    def __init__(self, function: Callable[..., Any], x0: Any, params: tuple[Any, ...], caller: str) -> None:
        self._function = function
        x, self.unknowns = tensors_of(x0, caller)
        self.caller = caller
        self.x0 = [value.detach() for value in x]
        self._leaves, self._parameters = flatten(params)
        self._places = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, wengert.Tensor)]
        self.p = [self._leaves[i] for i in self._places]
        self._refuse_captured()

    def params(self, p: Tensors) -> Any:
        leaves = list(self._leaves)  # what is no tensor passes through
        for place, value in zip(self._places, p, strict=True):
            leaves[place] = value
        return self._parameters(leaves)

    def values(self, x: Tensors, p: Tensors) -> Tensors:
        """Return what the function does at x and p."""
        return tensors_of(self._function(self.unknowns(x), *self.params(p)), self.caller)[0]

    def _refuse_captured(self) -> None:
        """Raise RuntimeError if the function depends on something differentiated that is no parameter.

        Its derivative would be 0, without a word. At constant arguments nothing else gives results a history, tangents
        or a batch.
        """
        with_forward = range(_forward_ad._current_dual_level() + 1) if _forward_ad._is_fwd_grad_enabled() else ()
        x, p = ([map_physical(lambda t: t.data, t) for t in tensors] for tensors in (self.x0, self.p))
        known = set().union(*map(levels_of, (*x, *p)))
        leaves, _ = flatten(self._function(self.unknowns(x), *self.params(p)))
        for output in leaves:
            if isinstance(output, wengert.Tensor) and (
                plain(output).requires_grad
                or levels_of(output) - known
                or any(
                    _forward_ad.unpack_dual(plain(output), level=level).tangent is not None for level in with_forward
                )
            ):
                raise RuntimeError(
                    f"[{self.caller}] the function uses a tensor that is differentiated or batched and is none of its "
                    "parameters, so its derivative would be missing: pass it, as in root(lambda x, a: x**2 - a, x0, a) "
                    "(modules: with func.functional_call); detach() what is meant to be a constant"
                )

    def solution(self, residual: Residual, solve: Solve, solver: Any, linear_solver: Any, iterative: str) -> Any:
        """Return the tree where a residual is 0: by the user's solver of the function, or else by `solve`."""
        by = solve if solver is None else functools.partial(self._by, solver)
        return self.unknowns(solution(residual, by, self.x0, self.p, linear_solver, iterative))

    def _by(self, solver: Solver, x0: Tensors, p: Tensors) -> Tensors:
        """Run the user's solver."""
        values = self.params(p)
        found, _ = flatten(solver(lambda x: self._function(x, *values), self.unknowns(x0)))
        found = as_tensors(found, self.caller)
        if len(found) != len(x0):
            raise ValueError(
                f"[{self.caller}] solver must return what x0 is, {len(x0)} leaves, but returned {len(found)}"
            )
        pairs = zip(found, x0, strict=True)
        return [value.detach().to(start.dtype).reshape(tuple(start.shape)) for value, start in pairs]


def root(
    F: Callable[..., Any],  # noqa: N803  # as in the literature
    x0: Any,
    *params: Any,
    solver: Solver | None = None,
    linear_solver: Any = "auto",
    tol: float | None = None,
    max_iterations: int = 100,
) -> Any:
    """Return a root x of ``F(x, *params) = 0``, differentiable with respect to `params`.

    Works in reverse and forward mode and to any order. All that derivatives are wanted of must be among the parameters.

    Parameters
    ----------
    F : callable
        ``F(x, *params)`` with `x` structured as `x0`; returns a tensor or tree with as many elements as `x0`.
    x0 : tree of Tensor or float
        Where to start; no derivative flows through it.
    *params : tree of Tensor
        Parameters; what is no tensor is passed on.
    solver : callable, optional
        ``solver(f, x0) -> x`` with ``f = lambda x: F(x, *params)``, instead of Newton's method.
    linear_solver : {'auto', 'lu', 'sparse', 'cg', 'gmres', 'bicgstab'} or callable
        How linear systems with dF/dx are solved: by a dense or sparse factorization, or by iterations that need
        products only ('cg': dF/dx must be symmetric and positive definite); a function ``solver(product, b)`` gets
        arrays. 'auto' factorizes up to 500 unknowns, and iterates beyond.
    tol : float, optional
        Newton's method stops at steps below it, relative to x; by default a little above rounding.
    max_iterations : int
        Of Newton's method.

    Returns
    -------
    tree of Tensor
        Structured as `x0`.

    Raises
    ------
    RuntimeError
        If there is no convergence, dF/dx is singular, or `F` uses a tensor that is differentiated and no parameter.
    ValueError
        If `F` returns another number of elements than `x0` has.

    Examples
    --------
    >>> import wengert as wg
    >>> a = wg.tensor(2.0, dtype=wg.float64, requires_grad=True)
    >>> x = wg.func.implicit.root(lambda x, a: x**2 - a, wg.tensor(1.0, dtype=wg.float64), a)
    >>> (slope,) = wg.autograd.grad(x, a, create_graph=True)
    >>> x.item() * slope.item()  # sqrt(a) / (2 sqrt(a))
    0.5...
    >>> round(wg.autograd.grad(slope, a)[0].item(), 6)  # -1 / (4 a^1.5)
    -0.088388
    """
    setting = _Setting(F, x0, params, "implicit.root")

    def solve(x0: Tensors, p: Tensors) -> Tensors:
        return newton(setting.values, x0, p, linear_solver, "gmres", tol, max_iterations)

    return setting.solution(setting.values, solve, solver, linear_solver, "gmres")


def fixed_point(
    T: Callable[..., Any],  # noqa: N803
    x0: Any,
    *params: Any,
    solver: Solver | None = None,
    linear_solver: Any = "auto",
    tol: float | None = None,
    max_iterations: int = 1000,
    memory: int = 5,
) -> Any:
    """Return a fixed point x of ``x = T(x, *params)``, differentiable with respect to `params`.

    Parameters
    ----------
    T : callable
        ``T(x, *params)``, structured as `x0`.
    memory : int
        How many former points Anderson's mixing combines; 0 for plain iteration.
    x0, *params, solver, linear_solver, tol, max_iterations
        As for `root`; the default solver iterates `T`, and a given one gets ``lambda x: T(x, *params)``.

    Returns
    -------
    tree of Tensor
        Structured as `x0`.

    Raises
    ------
    RuntimeError
        If the iteration does not converge.

    Examples
    --------
    >>> import wengert as wg
    >>> a = wg.tensor(0.5, dtype=wg.float64, requires_grad=True)
    >>> x = wg.func.implicit.fixed_point(lambda x, a: a * wg.cos(x), wg.tensor(0.0, dtype=wg.float64), a)
    >>> (slope,) = wg.autograd.grad(x, a)
    >>> round(slope.item() - (x.cos() / (1 + a * x.sin())).item(), 12)
    0.0
    """
    setting = _Setting(T, x0, params, "implicit.fixed_point")

    def residual(x: Tensors, p: Tensors) -> Tensors:
        return [new - old for new, old in zip(setting.values(x, p), x, strict=True)]

    def solve(x0: Tensors, p: Tensors) -> Tensors:
        return anderson(setting.values, x0, p, tol, max_iterations, memory)

    return setting.solution(residual, solve, solver, linear_solver, "gmres")


def argmin(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    solver: Solver | None = None,
    linear_solver: Any = "auto",
    tol: float | None = None,
    max_iterations: int = 20,
) -> Any:
    """Return the minimizer x of a smooth ``f(x, *params)``, differentiable with respect to `params`.

    Parameters
    ----------
    f : callable
        ``f(x, *params)``, a tensor of one element. At the minimum its Hessian must be regular.
    x0, *params, solver, linear_solver, tol
        As for `root`; the default solver is a trust-region method, followed by Newton's for the last digits, and a
        given one gets ``lambda x: f(x, *params)``. The matrix-free linear solver of 'auto' is 'cg'.
    max_iterations : int
        Of Newton's method.

    Returns
    -------
    tree of Tensor
        Structured as `x0`.

    Raises
    ------
    RuntimeError
        If no minimum is found, or the Hessian is singular.

    Examples
    --------
    Ridge regression as a function of its penalty:

    >>> import wengert as wg
    >>> A, b = wg.eye(2, dtype=wg.float64), wg.tensor([1.0, 2.0], dtype=wg.float64)
    >>> def loss(x, penalty):
    ...     return ((A @ x - b) ** 2).sum() + penalty * (x**2).sum()
    >>> penalty = wg.tensor(1.0, dtype=wg.float64, requires_grad=True)
    >>> x = wg.func.implicit.argmin(loss, wg.zeros(2, dtype=wg.float64), penalty)
    >>> x.detach().numpy().round(6).tolist(), wg.autograd.grad(x.sum(), penalty)[0].numpy().round(6).tolist()
    ([0.5, 1.0], -0.75)
    """
    setting = _Setting(f, x0, params, "implicit.argmin")
    one = [wengert.ones((), dtype=value.dtype) for value in setting.x0[:1]]

    def scalar(x: Tensors, p: Tensors) -> Tensors:
        return [setting.values(x, p)[0].reshape(())]

    def gradient(x: Tensors, p: Tensors) -> Tensors:
        return pull(scalar, x, p, one, by_x=True)

    def solve(x0: Tensors, p: Tensors) -> Tensors:
        values = setting.params([value.detach() for value in p])

        def height(x: Tensors) -> float:
            return float(f(setting.unknowns(x), *values))

        found = minimum(lambda x: f(setting.unknowns(x), *values), x0, tol)
        with no_grad():
            result = newton(gradient, found, p, linear_solver, "cg", tol, max_iterations)
            lowest = min(height(x0), height(found))
            if not height(result) <= lowest + 1e-6 * (1 + abs(lowest)):
                raise RuntimeError(
                    "[implicit.argmin] found no minimum: where the gradient vanishes the function is higher than "
                    "nearby; it may have no lower bound. Start elsewhere, or pass another solver="
                )
            return result

    return setting.solution(gradient, solve, solver, linear_solver, "cg")
