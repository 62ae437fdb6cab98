"""Primitives of users: functions of arrays whose derivatives they define.

>>> import numpy as np
>>> from wengert.compat.autograd import grad
>>> from wengert.compat.autograd.extend import defvjp, primitive
>>> @primitive
... def cube(x):
...     return x**3
>>> defvjp(cube, lambda ans, x: lambda g: 3 * x**2 * g)
>>> float(grad(cube)(2.0))
12.0
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

import wengert
from wengert.utils import _pytree as tree

from ._boxes import ArrayBox as Box
from ._boxes import boxed, getval, isbox, tensor

__all__ = [
    "Box", "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum",
    "defvjp_argnums", "notrace_primitive", "primitive", "register_notrace", "vspace",
]  # fmt: skip

_vjps: dict[Any, Callable[..., Any]] = {}
_jvps: dict[Any, Callable[..., Any]] = {}


def primitive(f_raw: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that runs `f_raw` on arrays; `defvjp` and `defjvp` define its derivatives."""

    @functools.wraps(f_raw)
    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        places = tuple(place for place, value in enumerate(args) if isbox(value))
        if not places:
            return f_raw(*args, **kwargs)
        call = _Call(f_wrapped, f_raw, args, kwargs, places)
        return boxed(_Primitive.apply(call, *(args[place]._value for place in places)))

    return f_wrapped


class _Call:
    """A call of a primitive: which of its arguments are differentiated, and the others."""

    def __init__(self, function: Any, raw: Any, args: Any, kwargs: Any, places: tuple[int, ...]) -> None:
        self.function, self.raw, self.kwargs, self.places = function, raw, kwargs, places
        self._args = [None if place in places else value for place, value in enumerate(args)]

    def with_values(self, values: Any) -> list[Any]:
        args = list(self._args)
        for place, value in zip(self.places, values, strict=True):
            args[place] = value
        return args

    def rule(self, rules: dict[Any, Any], kind: str) -> Callable[..., Any]:
        if self.function not in rules:
            name = getattr(self.function, "__name__", self.function)
            raise NotImplementedError(f"{kind} of {name} wrt argnums {self.places} not defined; use def{kind.lower()}")
        found: Callable[..., Any] = rules[self.function]
        return found


class _Primitive(wengert.autograd.Function):
    """One call of a primitive as a node; cotangents are conjugated, see `_passes.py`."""

    @staticmethod
    def forward(call: _Call, *values: Any) -> Any:
        result = call.raw(*call.with_values([getval(Box(value)) for value in values]), **call.kwargs)
        return tuple(map(tensor, result)) if isinstance(result, (tuple, list)) else tensor(result)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.call, values = inputs[0], inputs[1:]
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.save_for_backward(*values, *outputs)
        ctx.save_for_forward(*values, *outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        args, ans = _saved(ctx)
        vjp = ctx.call.rule(_vjps, "VJP")(ctx.call.places, ans, args, ctx.call.kwargs)
        cotangents = [_visible(wengert.conj(grad).resolve_conj()) for grad in grads]
        found = vjp(cotangents[0] if len(cotangents) == 1 else tuple(cotangents))
        return None, *(wengert.conj(tensor(value)).resolve_conj() for value in found)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        args, ans = _saved(ctx)
        slope = ctx.call.rule(_jvps, "JVP")(ctx.call.places, list(map(_visible, tangents)), ans, args, ctx.call.kwargs)
        return tuple(map(tensor, slope)) if isinstance(slope, (tuple, list)) else tensor(slope)


def _visible(value: Any) -> Any:
    """Return a tensor as users' rules take it: in a box where the pass is differentiated itself."""
    return boxed(value if wengert.is_grad_enabled() else value.detach())


def _saved(ctx: Any) -> tuple[list[Any], Any]:
    values = [_visible(value) for value in ctx.saved_tensors]
    split = len(ctx.call.places)
    ans = values[split] if len(values) == split + 1 else tuple(values[split:])
    return ctx.call.with_values(values[:split]), ans


def defvjp_argnums(fun: Any, vjpmaker: Callable[..., Any]) -> None:
    """Define the reverse derivative by a function of the numbers of the arguments, the result and all arguments."""
    _vjps[fun] = vjpmaker


def defvjp_argnum(fun: Any, vjpmaker: Callable[..., Any]) -> None:
    """Define the reverse derivative by a function of the number of one argument, the result and all arguments."""

    def of_all(argnums: Any, *args: Any) -> Callable[[Any], Any]:
        vjps = [vjpmaker(argnum, *args) for argnum in argnums]
        return lambda g: tuple(vjp(g) for vjp in vjps)

    defvjp_argnums(fun, of_all)


def defvjp(fun: Any, *vjpmakers: Any, argnums: Any = None) -> None:
    """Define the reverse derivative with respect to each argument.

    Parameters
    ----------
    fun : callable
        A `primitive`.
    *vjpmakers : callable or None
        Each takes the result and all arguments and returns the function from the cotangent of the result to that of one
        argument; None where the derivative is zero.
    argnums : sequence of int, optional
        Which arguments they are for; the first ones in order by default.
    """
    makers = dict(zip(count() if argnums is None else argnums, vjpmakers))  # noqa: B905  # count() has no end

    def of_one(argnum: int, ans: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
        if argnum not in makers:
            raise NotImplementedError(f"VJP of {getattr(fun, '__name__', fun)} wrt argnum {argnum} not defined")
        if makers[argnum] is None:
            return lambda g: vspace(args[argnum]).zeros()
        made: Callable[[Any], Any] = makers[argnum](ans, *args, **kwargs)
        return made

    defvjp_argnum(fun, of_one)


def defjvp_argnums(fun: Any, jvpmaker: Callable[..., Any]) -> None:
    """Define the forward derivative by a function of the numbers, tangents, the result and all arguments."""
    _jvps[fun] = jvpmaker


def defjvp_argnum(fun: Any, jvpmaker: Callable[..., Any]) -> None:
    """Define the forward derivative by a function of one number and tangent, the result and all arguments."""

    def of_all(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        terms = [jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in zip(argnums, gs, strict=True)]
        return functools.reduce(lambda a, b: a + b, terms)

    defjvp_argnums(fun, of_all)


def defjvp(fun: Any, *jvpfuns: Any, argnums: Any = None) -> None:
    """Define the forward derivative with respect to each argument.

    Parameters
    ----------
    fun : callable
        A `primitive`.
    *jvpfuns : callable, None or "same"
        Each takes a tangent, the result and all arguments and returns the tangent of the result; "same" where it is the
        function of the tangent, None where it is zero.
    argnums : sequence of int, optional
        Which arguments they are for.
    """
    makers = dict(zip(count() if argnums is None else argnums, jvpfuns))  # noqa: B905

    def of_one(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        rule = makers.get(argnum)
        if argnum not in makers:
            raise NotImplementedError(f"JVP of {getattr(fun, '__name__', fun)} wrt argnum {argnum} not defined")
        if rule is None:
            return vspace(ans).zeros()
        return _at(fun, argnum, g, args, kwargs) if rule == "same" else rule(g, ans, *args, **kwargs)

    defjvp_argnum(fun, of_one)


def _at(fun: Any, argnum: int, g: Any, args: Any, kwargs: Any) -> Any:
    return fun(*(g if place == argnum else value for place, value in enumerate(args)), **kwargs)


def def_linear(fun: Any) -> None:
    """Say that a primitive is linear in each of its arguments."""
    defjvp_argnum(fun, lambda argnum, g, ans, args, kwargs: _at(fun, argnum, g, args, kwargs))


def notrace_primitive(f_raw: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that runs `f_raw` on arrays, and has no derivative."""

    @functools.wraps(f_raw)
    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*map(getval, args), **kwargs)

    return f_wrapped


def register_notrace(trace_type: Any, primitive_fun: Any) -> None:
    """Do nothing: what is not traced has no derivative here anyway."""


class VSpace:
    """The space of the arrays, or of the nests of arrays, that are like a value."""

    def __init__(self, value: Any) -> None:
        self._leaves, self._structure = tree.tree_flatten(value)
        arrays = [np.asarray(getval(leaf)) for leaf in self._leaves]
        self._arrays = [array if array.dtype.kind in "fc" else array.astype(float) for array in arrays]
        self.size = sum(array.size * (2 if array.dtype.kind == "c" else 1) for array in self._arrays)
        self.iscomplex = any(array.dtype.kind == "c" for array in self._arrays)
        self.shape = self._arrays[0].shape if len(self._arrays) == 1 else ()

    def _nest(self, make: Callable[[Any], Any]) -> Any:
        return tree.tree_unflatten([make(array)[()] for array in self._arrays], self._structure)

    def zeros(self) -> Any:
        """Return the zero of the space."""
        return self._nest(np.zeros_like)

    def ones(self) -> Any:
        """Return ones."""
        return self._nest(np.ones_like)

    def randn(self) -> Any:
        """Return normal random numbers."""
        return self._nest(lambda array: np.random.default_rng().standard_normal(array.shape).astype(array.dtype))

    def standard_basis(self) -> Iterator[Any]:
        """Yield the vectors of a basis; of complex numbers those of the imaginary parts as well."""
        for chosen, array in enumerate(self._arrays):
            for place in np.ndindex(array.shape):
                for unit in (1.0, 1.0j) if array.dtype.kind == "c" else (1.0,):
                    parts = [np.zeros_like(other) for other in self._arrays]
                    parts[chosen][place] = unit
                    yield tree.tree_unflatten([part[()] for part in parts], self._structure)


def vspace(value: Any) -> VSpace:
    """Return the space that a value lies in."""
    return VSpace(value)
