"""What a subclass of Tensor does by default when an operation meets it: run it, and make results of its own type."""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor


class DisableTorchFunctionSubclass(_C._Switch):
    """A block in which subclasses do not override operations.

    Examples
    --------
    >>> import wengert as wg
    >>> class Named(wg.Tensor):
    ...     pass
    >>> x = wg.ones(2).as_subclass(Named)
    >>> with wg.DisableTorchFunctionSubclass():
    ...     type(x + 1).__name__
    'Tensor'
    """

    def __init__(self) -> None:
        super().__init__("overrides_disabled", True)


def overridden(*arguments: Any) -> bool:
    """Tell whether a tensor among the arguments, or in a list or tuple among them, overrides operations."""
    for argument in arguments:
        items = argument if isinstance(argument, (list, tuple)) else (argument,)
        if any(type(item) is not Tensor and _C._has_torch_function(item) for item in items):
            return True
    return False


# Getters whose results stay plain tensors.
_PLAIN_RESULTS = {Tensor.grad.__get__, Tensor._grad.__get__, Tensor._base.__get__}  # type: ignore[union-attr]


def torch_function(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run `func` with overriding off; tensors among its results become instances of `cls`.

    PyTorch asks this too, for functions of its own (``torch.ones(1) * wengert.ones(1)``): they are not for us to run.
    """
    if _is_of_pytorch(func) or not all(issubclass(cls, other) for other in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in _PLAIN_RESULTS else _converted(result, cls)


def torch_dispatch(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run `func` as if no class computed in the place of kernels: for objects whose memory is their own."""
    with _C._DisableTorchDispatch():
        return func(*args, **(kwargs or {}))


def _is_of_pytorch(func: Any) -> bool:
    """Tell whether a function, a method or a getter (``Tensor.grad.__get__``) is one of PyTorch's."""
    bound_to = getattr(func, "__self__", None)
    for owner in (func, getattr(func, "__objclass__", None), bound_to, getattr(bound_to, "__objclass__", None)):
        module = getattr(owner, "__module__", None)
        if isinstance(module, str) and module.partition(".")[0] == "torch":
            return True
    return False


def _converted(result: Any, cls: Any) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        items = (_converted(item, cls) for item in result)
        if hasattr(result, "_fields"):
            return type(result)(*items)
        return type(result)(items)
    return result
