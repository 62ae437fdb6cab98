"""`grad` and `grad_and_value`: gradients of functions that return one number."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import wengert
from wengert.utils._pytree import tree_unflatten

from ._arguments import Argnums, flatten_tensors, normalized_argnums, replaced, selected, split_aux
from ._frames import ReverseFrame, plain

_CALL = "grad_and_value(f)(*args)"


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes the gradient of `func`.

    Parameters
    ----------
    func : callable
        Takes tensors, or trees of them, and returns a tensor of one real element without dimensions. Real numbers and
        arrays among its arguments become tensors; what else is in trees passes through.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether `func` returns ``(output, aux)``; aux is passed through.

    Returns
    -------
    callable
        Of the same arguments. It returns the gradient, structured like the argument (a tuple of them if `argnums` is
        a tuple), or ``(gradient, aux)``.

    Raises
    ------
    RuntimeError
        If `func` returns anything else, or `argnums` does not fit.
    ValueError
        If an argument to differentiate holds nothing that is a tensor, a real number or an array of them.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.grad(wg.func.grad(lambda x: x**3))(wg.tensor(2.0))
    tensor(12.)
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradients, _, aux = _differentiate(func, argnums, has_aux, False, args, kwargs)
        return (gradients, aux) if has_aux else gradients

    return wrapper


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes the gradient of `func` and its value.

    Parameters and errors are those of `grad`.

    Returns
    -------
    callable
        Returns ``(gradient, value)``, or ``(gradient, (value, aux))``.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.grad_and_value(lambda x: (x * x).sum())(wg.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradients, value, aux = _differentiate(func, argnums, has_aux, True, args, kwargs)
        return gradients, ((value, aux) if has_aux else value)

    return wrapper


def value_and_grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes the value of `func` and its gradient: `grad_and_value` in JAX's order.

    Parameters and errors are those of `grad`.

    Returns
    -------
    callable
        Returns ``(value, gradient)``, or ``((value, aux), gradient)``.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.value_and_grad(lambda x: x * x)(3.0)
    (tensor(9.), tensor(6.))
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradients, value, aux = _differentiate(func, argnums, has_aux, True, args, kwargs)
        return ((value, aux) if has_aux else value), gradients

    return wrapper


def _differentiate(func: Any, argnums: Any, has_aux: bool, value: bool, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    argnums = normalized_argnums(argnums, len(args))
    primals, spec = flatten_tensors(selected(args, argnums), isinstance(argnums, tuple))
    with ReverseFrame() as frame:
        aliases = tree_unflatten([frame.alias(primal) for primal in primals], spec)
        output, aux = split_aux(func(*replaced(args, argnums, aliases), **kwargs), _CALL, has_aux)
        _check_output(output)
    gradients = frame.gradients((output,), (wengert.ones_like(output),), False)
    return tree_unflatten(gradients, spec), frame.release(output) if value else None, frame.release(aux)


def _check_output(output: Any) -> None:
    if not isinstance(output, wengert.Tensor):
        raise RuntimeError(f"{_CALL}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output.dim() != 0:
        raise RuntimeError(
            f"{_CALL}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )
    if plain(output).requires_grad and not output.is_floating_point():
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype}; return its real part"
        )
