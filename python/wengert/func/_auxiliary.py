"""What PyTorch's torch.func exports besides transforms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ._batched_tensor import BatchedTensor

_REMOVE = ("mutations", "mutations_and_views")


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return a function with the results and effects of `func`.

    PyTorch's removes in-place operations from what a tracer sees. Wengert has no tracer: operations run at once, so
    nothing can tell a function from its functionalized form, and calling it is all there is to do.

    Parameters
    ----------
    func : callable
    remove : {"mutations", "mutations_and_views"}

    Raises
    ------
    RuntimeError
        If `remove` is anything else, when the result is called.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.func.functionalize(lambda x: x.clone().add_(1))(wg.ones(2))
    tensor([2., 2.])
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if remove not in _REMOVE:
            raise RuntimeError(
                f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. "
                f"Valid options are: {' and '.join(map(repr, _REMOVE))}."
            )
        return func(*args, **kwargs)

    return wrapper


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """Return the whole batch behind a tensor inside `vmap`, for looking at; operations on it escape the transform.

    Parameters
    ----------
    tensor : Tensor
    recurse : bool, default True
        Whether to go through all vmaps, or only the innermost.

    Examples
    --------
    >>> import wengert as wg
    >>> def f(x):
    ...     print(wg.func.debug_unwrap(x).shape)
    ...     return x
    >>> _ = wg.func.vmap(f)(wg.ones(2, 3))
    wengert.Size([2, 3])
    """
    while isinstance(tensor, BatchedTensor):
        tensor = tensor._value
        if not recurse:
            break
    return tensor
