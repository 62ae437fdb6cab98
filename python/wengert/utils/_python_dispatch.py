"""Python code in the place of every operation's kernel: dispatch modes, and classes of tensors with
``__torch_dispatch__``.

Either stands below recording. Inside it nothing is recorded and a mode is not active, so that calling ``func`` runs the
operation, or the next mode outside. What it returns becomes the operation's result, with the history that the kernel's
result would have had. Operations that are made of others (``compose`` in the table) show their parts.

A mode is asked of every operation in its block; a class of those that have one of its objects among their arguments,
where no mode is active. The objects are made by ``Tensor._make_wrapper_subclass``, which gives them a shape and no
elements, or by ``Tensor._make_subclass``, with those of another tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import _C
from wengert._C import Tensor


class TorchDispatchMode(_C._DispatchMode):
    """Base class: define ``__torch_dispatch__`` and use an instance as a context manager.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils._python_dispatch import TorchDispatchMode
    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     y = wg.ones(2).exp() * 2
    aten.exp.default
    aten.mul.default
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_dispatch__(func, types, args, kwargs)")


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Return what `__torch_dispatch__` of a wrapper class owes its caller, given the wrapped results.

    An operation in place, or with ``out=``, returns the very tensor that it has written; any other one returns `out`.
    Views need nothing: whatever a class returns as a view of one of its objects shares the versions of it.

    Parameters
    ----------
    func : OpOverload
        The operation.
    args, kwargs : tuple and dict
        Its arguments, not unwrapped.
    out : Any
        What the class has computed.

    Examples
    --------
    >>> import wengert as wg
    >>> from wengert.utils._python_dispatch import return_and_correct_aliasing
    >>> x = wg.ones(2)
    >>> return_and_correct_aliasing(wg.ops.aten.add_.default, (x, 1), {}, wg.ones(2)) is x
    True
    """
    written = func._written(args, kwargs or {})
    return out if written is None else written


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Tell whether a tensor, or a class, says by ``__tensor_flatten__`` and ``__tensor_unflatten__`` what is inside."""
    cls = t if isinstance(t, type) else type(t)
    return (
        issubclass(cls, Tensor)
        and cls is not Tensor
        and hasattr(cls, "__tensor_flatten__")
        and hasattr(cls, "__tensor_unflatten__")
    )


is_traceable_wrapper_subclass_type = is_traceable_wrapper_subclass


def transform_subclass(
    t: Any, callback: Callable[[str, Any], Any], outer_size: Any = None, outer_stride: Any = None
) -> Any:
    """Return a wrapper made again of what `callback` makes of each tensor inside.

    Parameters
    ----------
    t : Tensor
        Of a class with ``__tensor_flatten__`` and ``__tensor_unflatten__``.
    callback : callable
        Of the name and the tensor.
    outer_size, outer_stride : sequence of int, optional
        The geometry of the result; by default that of `t`.
    """
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    return type(t).__tensor_unflatten__(inner, context, size, stride)


class _disable_current_modes(_C._WithoutDispatchModes):
    """A block without dispatch modes; its value is the list of those that were active, the outermost first."""

    def __enter__(self) -> Any:
        modes = _get_current_dispatch_mode_stack()
        super().__enter__()
        return modes


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """Return the innermost active mode of this thread."""
    modes = _C._dispatch_modes()
    return modes[0] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """Return the active modes of this thread, the outermost first."""
    return list(reversed(_C._dispatch_modes()))
