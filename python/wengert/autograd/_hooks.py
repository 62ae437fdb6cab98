"""Handles of registered hooks, and the marks that pickling looks at.

A hook lives in an ordered dictionary owned by a tensor or a node, under a key that grows with every registration in
the process. The user gets a handle, which knows the key and holds the dictionary weakly: a handle never keeps a
tensor, a node or a graph alive.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self, TypeVar

_Callable = TypeVar("_Callable", bound=Callable[..., Any])

_UNSERIALIZABLE = "__wengert_unserializable__"
_ids = itertools.count()


class RemovableHandle:
    """Takes back one registered hook.

    Parameters
    ----------
    hooks_dict : collections.OrderedDict
        Where the hook is about to be stored, under ``handle.id``.
    extra_dict : collections.OrderedDict or list of them, optional
        More dictionaries that hold something under the same key.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> with x.register_hook(lambda grad: grad * 10):
    ...     x.sum().backward()
    >>> x.grad
    tensor([10., 10.])
    """

    id: int

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = next(_ids)
        if extra_dict is None:
            extras = []
        elif isinstance(extra_dict, list):
            extras = extra_dict
        else:
            extras = [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(extra) for extra in extras)

    def remove(self) -> None:
        """Remove the hook; removing twice, or after its owner died, does nothing."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()

    def __getstate__(self) -> tuple[Any, ...]:
        extras = tuple(reference() for reference in self.extra_dict_ref)
        return (self.hooks_dict_ref(), self.id, extras)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        global _ids
        hooks_dict, self.id, extras = state
        # A dictionary that had died stays dead: the reference to a temporary one expires at once.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks_dict is None else hooks_dict)
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if extra is None else extra) for extra in extras)
        _ids = itertools.count(max(next(_ids), self.id + 1))


def add(hooks: Any, hook: Callable[..., Any], *marks: OrderedDict[int, bool], prepend: bool = False) -> RemovableHandle:
    """Register a hook last or first, and its key in each dictionary of marks; the handle takes back all of it."""
    handle = RemovableHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def unserializable_hook(hook: _Callable) -> _Callable:
    """Mark `hook` as one that pickling may drop without a warning.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.utils.hooks.unserializable_hook
    ... def count(grad):
    ...     return None
    """
    setattr(hook, _UNSERIALIZABLE, True)
    return hook


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about every hook of `tensor` that pickling is about to drop."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, _UNSERIALIZABLE):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized. If this is expected, decorate the function "
                "with @wengert.utils.hooks.unserializable_hook to silence this warning.",
                stacklevel=2,
            )
