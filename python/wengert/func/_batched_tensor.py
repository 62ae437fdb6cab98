"""The Python class of the tensors that stand for one sample of a batch while `vmap` runs a function.

The core makes them and runs operations on them (src/graph/batched.h, src/ops/batching/batch.h): a batched tensor holds
a tensor with one dimension more, the place of that dimension, and the level of the vmap it belongs to. It has the shape
of one sample; memory, history and tangents are those of the tensor inside, which may itself be a sample of a batch
further out. This class answers what the core does not: what is a question about history, and what has no answer for a
whole batch. Functions that are no operations come to `__torch_function__`, which _handlers/dispatch.py gives it.
"""

from __future__ import annotations

from typing import Any, NoReturn

from wengert import _C
from wengert._C import Tensor

NotBatchableError = _C._NotBatchableError


def move_to_front(value: Any, dim: int) -> Any:
    """Return a view with the batch dimension in front."""
    return value if dim == 0 else value.movedim(dim, 0)


def _depth_of(level: Any) -> int:
    """Return the place of a running vmap among the transforms, from 1 for the outermost, or -1 if it is over."""
    frames = _C._running_frames()
    return next((i + 1 for i, f in enumerate(frames) if f.kind == "vmap" and f.level == level), -1)


class BatchedTensor(Tensor):
    """One sample of a batch; made by vmap only."""

    __slots__ = ()

    _value = property(_C._batched_value)
    _batch_dim = property(_C._batched_dim)
    _level = property(_C._batched_level)

    wrap = staticmethod(_C._make_batched)  # (value, dim, level): the sample of `value` along `dim`

    @property
    def grad(self) -> Any:  # type: ignore[override]
        gradient = self._value.grad
        return None if gradient is None else self._like(gradient)

    _grad = grad

    @property
    def data(self) -> Any:  # type: ignore[override]
        return self._like(self._value.data)

    _base = property(lambda self: None)

    def _like(self, value: Any) -> Any:
        return BatchedTensor.wrap(value, self._batch_dim, self._level)

    # --- In place, on the history
    def detach_(self) -> Any:
        """Cut the tensor from its history."""
        self._value.detach_()
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Ask for gradients of all samples."""
        self._value.requires_grad_(requires_grad)
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of all samples."""
        self._value.retain_grad()

    # --- Questions without an answer; the core refuses conversions to numbers
    def item(self) -> Any:
        """Raise RuntimeError: a batch has no single value."""
        return float(self)

    def __bool__(self) -> Any:
        return _C._refuse_value("bool")

    is_nonzero = __bool__

    def tolist(self, *_: Any, **__: Any) -> NoReturn:
        """Raise RuntimeError: a batch has no single value."""
        raise NotBatchableError(
            "Cannot access data pointer of Tensor that doesn't have storage: inside vmap a tensor stands for one "
            "sample of a batch; convert the result of vmap instead."
        )

    numpy = __array__ = data_ptr = __dlpack__ = __reduce_ex__ = __reduce__ = tolist

    def __repr__(self, **_: Any) -> str:
        inner = "\n".join("    " + line for line in repr(self._value).splitlines())
        return f"BatchedTensor(lvl={_depth_of(self._level)}, bdim={self._batch_dim}, value=\n{inner}\n)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec) if self.ndim else repr(self)  # a spec for its number

    def __hash__(self) -> int:
        return id(self)


def _refuse(name: str) -> None:
    def refused(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"vmap: {name} is not supported inside vmap: samples lie in the memory of one batch")

    setattr(BatchedTensor, name, refused)


def _delegate(name: str) -> None:
    """Answer an attribute of Tensor, or a method without arguments, from the tensor inside."""
    if callable(getattr(Tensor, name)):
        setattr(BatchedTensor, name, lambda self: getattr(self._value, name)())
    else:
        setattr(BatchedTensor, name, property(lambda self: getattr(self._value, name)))


for _name in (
    *("requires_grad", "grad_dtype", "grad_fn", "_grad_fn", "_backward_hooks", "_post_accumulate_grad_hooks"),
    *("is_leaf", "output_nr", "retains_grad", "_version", "is_inference", "_is_view"),
):
    _delegate(_name)
for _name in ("as_subclass", "resize_", "set_", "_view_func", "_view_func_unsafe"):
    _refuse(_name)
_C._set_batched_type(BatchedTensor)
