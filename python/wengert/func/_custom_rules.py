"""`custom_vjp` and `custom_jvp`: functions with derivatives of the user's, by JAX's names.

Each call is an `autograd.Function` whose arguments are the leaves of all arguments. `custom_vjp` keeps these alone:
the backward pass runs the user's `fwd` again for its residuals, so that they depend on the arguments where the pass is
differentiated itself. The reverse mode of `custom_jvp` is the transpose of the user's linear function of tangents.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import wengert
from wengert import Tensor
from wengert.utils._pytree import tree_flatten, tree_unflatten

from ._vjp import vjp


class _Custom:
    """What the two have in common: arguments that are differentiated, and others (`nondiff_argnums`)."""

    _rule: Any
    __name__: str

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        functools.update_wrapper(self, fun)
        self._fun, self._others = fun, tuple(nondiff_argnums)

    def __call__(self, *args: Any) -> Any:
        call = _Call(self, args)
        results = self._rule.apply(call, *call.leaves)
        return tree_unflatten(results if isinstance(results, tuple) else (results,), call.of_result)

    def _ready(self) -> None:
        raise NotImplementedError


class _Call:
    """One call: how its arguments and its results are nested."""

    def __init__(self, owner: Any, args: tuple[Any, ...]) -> None:
        owner._ready()
        self.owner = owner
        self.others = [args[place] for place in owner._others]
        self.args = args
        self.places = [place for place in range(len(args)) if place not in owner._others]
        leaves, self.structure = tree_flatten(tuple(args[place] for place in self.places))
        self.leaves = [leaf if isinstance(leaf, Tensor) else wengert.as_tensor(leaf) for leaf in leaves]
        self.of_result: Any = None

    def primals(self, leaves: Any) -> tuple[Any, ...]:
        """Return the arguments that are differentiated."""
        found: tuple[Any, ...] = tree_unflatten(leaves, self.structure)
        return found

    def all_args(self, leaves: Any) -> list[Any]:
        args = list(self.args)
        for place, value in zip(self.places, self.primals(leaves), strict=True):
            args[place] = value
        return args

    def flat(self, result: Any) -> tuple[Any, ...]:
        leaves, self.of_result = tree_flatten(result)
        return tuple(leaves)


class _Rule(wengert.autograd.Function):
    """The forward part of both."""

    generate_vmap_rule = True

    @staticmethod
    def forward(call: _Call, *leaves: Any) -> Any:
        return call.flat(call.owner._fun(*call.all_args(leaves)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.call = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])


class _Vjp(_Rule):
    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call, leaves = ctx.call, ctx.saved_tensors
        _, residuals = call.owner._fwd(*call.all_args(leaves))
        found = call.owner._bwd(*call.others, residuals, tree_unflatten(grads, call.of_result))
        if not isinstance(found, tuple) or len(found) != len(call.places):
            raise TypeError(
                f"[custom_vjp] bwd of {call.owner.__name__} must return a tuple of {len(call.places)} cotangents, one "
                f"for each argument, got {type(found).__name__}"
            )
        return None, *_cotangents(call.primals(leaves), found)


def _cotangents(primals: tuple[Any, ...], found: tuple[Any, ...]) -> list[Any]:
    """Return the leaves of the cotangents; None for an argument means zero."""
    leaves: list[Any] = []
    for primal, cotangent in zip(primals, found, strict=True):
        count = len(tree_flatten(primal)[0])
        leaves += [None] * count if cotangent is None else tree_flatten(cotangent)[0]
    return leaves


class _Jvp(_Rule):
    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        call, leaves = ctx.call, ctx.saved_tensors
        filled = [wengert.zeros_like(p) if t is None else t for p, t in zip(leaves, tangents, strict=True)]
        found = tree_flatten(_pushed(call, leaves, filled))[0]
        return tuple(found) if len(found) > 1 else found[0]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call, leaves = ctx.call, ctx.saved_tensors
        _, pull = vjp(lambda *t: _pushed(call, leaves, t), *(wengert.zeros_like(leaf) for leaf in leaves))
        return None, *pull(tree_unflatten(grads, call.of_result))


def _pushed(call: _Call, leaves: Any, tangents: Any) -> Any:
    """Return the tangent of the result."""
    rule = call.owner._jvp
    return rule(*call.others, call.primals(leaves), call.primals(tangents))[1]


class custom_vjp(_Custom):
    """A function whose reverse derivative is the user's.

    Parameters
    ----------
    fun : callable
        Takes tensors or trees of them, and returns a tensor or a tree.
    nondiff_argnums : sequence of int
        Which arguments are passed on as they are, first, to `bwd`.

    Raises
    ------
    TypeError
        When it is called before `defvjp`, or if `bwd` returns something else than a tuple with a cotangent for each
        argument.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.func.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residuals, g: (g.clamp(-1, 1),))
    >>> wg.func.grad(lambda x: 5 * clipped(x))(wg.tensor(2.0))
    tensor(1.)
    """

    _rule = _Vjp
    _fwd: Any = None
    _bwd: Any = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Define the derivative.

        Parameters
        ----------
        fwd : callable
            Takes the arguments and returns the result and what `bwd` needs of them. It runs in the backward pass.
        bwd : callable
            Takes that and the cotangent of the result, and returns a tuple with the cotangent of each argument, or None
            for one where it is zero.
        """
        self._fwd, self._bwd = fwd, bwd

    def _ready(self) -> None:
        if self._bwd is None:
            raise TypeError(
                f"[custom_vjp] {self.__name__} has no derivative yet; call {self.__name__}.defvjp(fwd, bwd)"
            )


class custom_jvp(_Custom):
    """A function whose derivative, in both modes, is the user's.

    Parameters
    ----------
    fun : callable
        Takes tensors or trees of them, and returns a tensor or a tree.
    nondiff_argnums : sequence of int
        Which arguments are passed on as they are, first, to the rule.

    Raises
    ------
    TypeError
        When it is called before `defjvp`.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.func.custom_jvp
    ... def log1pexp(x):
    ...     return wg.log1p(wg.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), wg.sigmoid(x) * t
    >>> wg.func.grad(log1pexp)(wg.tensor(100.0))
    tensor(1.)
    """

    _rule = _Jvp
    _jvp: Any = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Define the derivative.

        Parameters
        ----------
        jvp : callable
            Takes a tuple of the arguments and one of their tangents, and returns the result and its tangent, which is
            linear in those.
        """
        self._jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Define the derivative by a function for each argument, of its tangent, the result and all arguments."""

        def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
            result = self(*primals)
            pairs = zip(jvps, tangents, strict=True)
            terms = [jvp(tangent, result, *primals) for jvp, tangent in pairs if jvp is not None]
            return result, sum(terms[1:], terms[0]) if terms else wengert.zeros_like(result)

        self.defjvp(rule)

    def _ready(self) -> None:
        if self._jvp is None:
            raise TypeError(f"[custom_jvp] {self.__name__} has no derivative yet; call {self.__name__}.defjvp(rule)")
