"""autograd's operators: what they make of `make_vjp` and `make_jvp`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _passes
from .extend import defvjp_argnum, primitive, vspace

_NOT_SCALAR = (
    "{} only applies to real scalar-output functions. Try jacobian, elementwise_grad or holomorphic_grad; the output "
    "has shape {}."
)


def unary_to_nary(unary_operator: Callable[..., Any]) -> Any:
    """Make of an operator on functions of one argument one on functions of several: `argnum` says on which."""

    def nary_operator(fun: Callable[..., Any], argnum: Any = 0, *options: Any, **more: Any) -> Callable[..., Any]:
        def nary_f(*args: Any, **kwargs: Any) -> Any:
            def unary_f(x: Any) -> Any:
                given = list(args)
                for place, value in ((argnum, x),) if isinstance(argnum, int) else zip(argnum, x, strict=True):
                    given[place] = value
                return fun(*given, **kwargs)

            x = args[argnum] if isinstance(argnum, int) else tuple(args[place] for place in argnum)
            return unary_operator(unary_f, x, *options, **more)

        nary_f.__name__ = f"{unary_operator.__name__}_of_{getattr(fun, '__name__', 'function')}_wrt_argnum_{argnum}"
        nary_f.__doc__ = f"{unary_operator.__name__} with respect to argument {argnum}; takes the function's arguments."
        return nary_f

    nary_operator.__name__ = nary_operator.__qualname__ = unary_operator.__name__
    nary_operator.__doc__ = unary_operator.__doc__
    return nary_operator


make_vjp = unary_to_nary(_passes.make_vjp)
make_jvp = unary_to_nary(_passes.make_jvp)


def _scalar(name: str, result: Any) -> None:
    space = vspace(result)
    if space.size != 1 or space.iscomplex:
        raise TypeError(_NOT_SCALAR.format(name, space.shape))


@unary_to_nary
def grad(fun: Any, x: Any) -> Any:
    """Return the function that computes the gradient of a function with one real result.

    Parameters
    ----------
    fun : callable
        Takes arrays, or lists, tuples and dicts of them.
    argnum : int or sequence of int, default 0
        With respect to which arguments.

    Returns
    -------
    callable
        It takes the arguments of `fun` and returns what has the structure of the one that is differentiated.

    Raises
    ------
    TypeError
        If the result is not one real number.

    Examples
    --------
    >>> import numpy as np
    >>> from wengert.compat.autograd import grad
    >>> grad(lambda x, y: np.sum(x * y), 1)(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([1., 2.])
    """
    vjp, result = _passes.make_vjp(fun, x)
    _scalar("Grad", result)
    return vjp(vspace(result).ones())


@unary_to_nary
def value_and_grad(fun: Any, x: Any) -> Any:
    """Return the function that computes the value and the gradient of a function; see `grad`."""
    vjp, result = _passes.make_vjp(fun, x)
    _scalar("value_and_grad", result)
    return result, vjp(vspace(result).ones())


@unary_to_nary
def elementwise_grad(fun: Any, x: Any) -> Any:
    """Return the function that computes the sums of the columns of the Jacobian: its diagonal if it has no more."""
    vjp, result = _passes.make_vjp(fun, x)
    if vspace(result).iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions; the output is complex.")
    return vjp(vspace(result).ones())


@unary_to_nary
def deriv(fun: Any, x: Any) -> Any:
    """Return the function that computes the derivative along ones, forward."""
    return _passes.make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Any, x: Any) -> Any:
    """Return the function that computes the Jacobian; its shape is that of the result and then that of the argument."""
    vjp, result = _passes.make_vjp(fun, x)
    space = vspace(result)
    rows = [vjp(direction) for direction in space.standard_basis()]
    return np.reshape(np.stack(rows), space.shape + vspace(x).shape)


@unary_to_nary
def holomorphic_grad(fun: Any, x: Any) -> Any:
    """Return the function that computes the derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda z: np.real(fun(z)))(x)


@unary_to_nary
def hessian(fun: Any, x: Any) -> Any:
    """Return the function that computes the matrix of second derivatives."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Any, x: Any) -> Any:
    """Return the function that makes the product of the Hessian and a vector, and the gradient."""
    return _passes.make_vjp(grad(fun), x)


@unary_to_nary
def make_jvp_reversemode(fun: Any, x: Any) -> Any:
    """Return the function from tangents to tangents, made of two reverse passes."""
    vjp, result = _passes.make_vjp(fun, x)
    return _passes.make_vjp(vjp, vspace(result).zeros())[0]


@unary_to_nary
def grad_and_aux(fun: Any, x: Any) -> Any:
    """Return the function that computes the gradient of the first result, and the second result."""
    vjp, (result, aux) = _passes.make_vjp(lambda value: tuple(fun(value)), x)
    return vjp((vspace(result).ones(), vspace(aux).zeros())), aux


def grad_named(fun: Callable[..., Any], argname: str) -> Any:
    """Return the gradient with respect to an argument that is given by its name."""
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


def hessian_tensor_product(fun: Callable[..., Any], argnum: int = 0) -> Any:
    """Return the function of the arguments and a vector that computes the product of the Hessian and the vector."""
    slope = grad(fun, argnum)

    def along(*args: Any, **kwargs: Any) -> Any:
        *arguments, vector = args
        return np.tensordot(slope(*arguments, **kwargs), vector, np.ndim(vector))

    return grad(along, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Callable[..., Any], argnum: int = 0) -> Any:
    """Return the function of the arguments and a vector that computes the product of the vector and the Jacobian."""

    def weighted(*args: Any, **kwargs: Any) -> Any:
        *arguments, vector = args
        return np.tensordot(vector, fun(*arguments, **kwargs), np.ndim(vector))

    return jacobian(weighted, argnum)


vector_jacobian_product = tensor_jacobian_product


def _half_square(x: Any) -> Any:
    return np.sum(x**2, axis=-1) / 2


def make_ggnvp(f: Callable[..., Any], g: Callable[..., Any] = _half_square, f_argnum: int = 0) -> Any:
    """Return the function that makes products with the generalised Gauss-Newton matrix of `g` after `f`."""

    @unary_to_nary
    def make(fun: Any, x: Any) -> Any:
        vjp, result = _passes.make_vjp(fun, x)
        product_of_g, slope = _passes.make_vjp(grad(g), result)
        jvp, _ = _passes.make_vjp(vjp, vspace(slope).zeros())
        return lambda v: vjp(product_of_g(jvp(v)))

    return make(f, f_argnum)


def multigrad_dict(fun: Callable[..., Any]) -> Any:
    """Return the function that computes the gradients with respect to all arguments, by their names."""
    signature = inspect.signature(fun)

    def of_all(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_arguments(arguments: dict[str, Any]) -> Any:
            return fun(**arguments)

        return grad(of_arguments)(dict(bound.arguments))

    return of_all


def checkpoint(fun: Callable[..., Any]) -> Any:
    """Return the function that keeps nothing but its arguments for the backward pass, which runs `fun` again."""
    wrapped = primitive(fun)
    defvjp_argnum(wrapped, lambda argnum, ans, args, kwargs: make_vjp(fun, argnum)(*args, **kwargs)[0])
    return wrapped
