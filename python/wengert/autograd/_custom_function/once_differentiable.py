"""`once_differentiable`: a backward written in terms that autograd cannot follow."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor

from .._modes.grad_mode import no_grad

_MESSAGE = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Run a custom Function's backward without recording, and refuse to differentiate its results.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.autograd.function import once_differentiable
    >>> class Double(wg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = wg.tensor([1.0], requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            results = backward(ctx, *grads)
        recorded = _C.is_grad_enabled() and any(isinstance(grad, Tensor) and grad.requires_grad for grad in grads)
        return _attach_error(results) if recorded else results

    return wrapper


def _attach_error(results: Any) -> Any:
    """Return aliases of `results` whose node raises when a backward pass reaches it."""
    results = results if isinstance(results, tuple) else (results,)
    error = _C._functions.DelayedError(_MESSAGE, len(results))
    return error(*(None if result is None else result.detach().requires_grad_() for result in results))
