"""Writing to tensors that a graph has saved: copies are kept, but only of those that are written."""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from typing import Any

from wengert import _C

from .._modes.context import ModeContext
from .saved_tensors import saved_tensors_hooks

_active = threading.local()


class _Handle:
    """What the graph holds instead of a saved tensor; dies with it."""


def _memory_id(tensor: Any) -> tuple[int, int]:
    """Name the memory that `tensor` is part of, at its present version."""
    return tensor.data_ptr() - tensor.storage_offset() * tensor.element_size(), tensor._version


class _AllowMutationOnSavedContext:
    """The tensors that graphs made in one block have saved, with copies of those that were written since.

    Attributes
    ----------
    original, cloned : mapping from handle to Tensor
        The saved tensors that are still as they were, and the copies of the others.
    """

    def __init__(self) -> None:
        self.cloned: weakref.WeakKeyDictionary[_Handle, Any] = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary[_Handle, Any] = weakref.WeakKeyDictionary()
        # From a tensor's identity to its handle, so that saving it twice needs one copy at most; and from a memory's
        # identity to those of the tensors saved in it, which is what a write has to look up.
        self.tid_to_weakhandle: weakref.WeakValueDictionary[Any, _Handle] = weakref.WeakValueDictionary()
        self.sid_to_tid: defaultdict[Any, set[Any]] = defaultdict(set)

    def clear(self) -> None:
        for mapping in (self.cloned, self.original, self.tid_to_weakhandle, self.sid_to_tid):
            mapping.clear()

    def pack(self, tensor: Any) -> _Handle:
        sid = _memory_id(tensor)
        tid = (sid, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = _Handle()
            self.tid_to_weakhandle[tid] = handle
            self.original[handle] = tensor
            self.sid_to_tid[sid].add(tid)
            weakref.finalize(handle, self._forget, sid, tid).atexit = False
        return handle

    def unpack(self, handle: _Handle) -> Any:
        if getattr(_active, "context", None) is not self:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        return self.cloned[handle] if handle in self.cloned else self.original[handle]

    def before_write(self, tensor: Any) -> None:
        if tensor.is_inference():
            return
        for tid in self.sid_to_tid.pop(_memory_id(tensor), ()):
            handle = self.tid_to_weakhandle.pop(tid, None)
            if handle is not None and handle in self.original:
                self.cloned[handle] = self.original.pop(handle).detach().clone()

    def _forget(self, sid: Any, tid: Any) -> None:
        self.sid_to_tid.get(sid, set()).discard(tid)
        if not self.sid_to_tid.get(sid, True):
            del self.sid_to_tid[sid]


class allow_mutation_on_saved_tensors(ModeContext, _C._Undone):
    """Allow in-place writes to tensors that were saved for backward inside this block.

    The first write to one makes a copy for backward, which must run inside the block too.

    The value of the block is what is kept: `.original` and `.cloned` map handles of saved tensors to tensors.

    Raises
    ------
    RuntimeError
        If such a block is active already.
    AssertionError
        By a backward pass outside of the block whose graph was made inside.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([2.0], requires_grad=True)
    >>> with wg.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x * 1
    ...     z = y**2
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor([4.])
    """

    def _open(self) -> _AllowMutationOnSavedContext:
        if getattr(_active, "context", None) is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        context = _AllowMutationOnSavedContext()
        self.undo(context.clear)
        self.undo(setattr, _active, "context", None)
        _active.context = context
        self.enter(saved_tensors_hooks(context.pack, context.unpack))
        self.undo(_C._autograd._set_write_observer, None)
        _C._autograd._set_write_observer(context.before_write)
        return context
