"""The tensor that stands for one sample of a batch while `vmap` runs a function.

A `BatchedTensor` holds a tensor with one dimension more, the position of that dimension, and the level of the vmap it
belongs to. To the function it looks like a tensor without that dimension. Nested vmaps nest wrappers: the held tensor
may itself be a BatchedTensor of an outer, lower level. The memory, the history and the tangents are those of the plain
tensor inside; the wrapper's own C++ half is empty.

Operations that meet one come to `__torch_function__`, which finds a batching rule (_dispatch.py). What can be answered
at once (shapes, dtypes, questions that have no answer for a whole batch) is answered here.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, NoReturn

import wengert
from wengert._C import Tensor
from wengert.autograd._mode_context import Undone

_NOTHING = wengert.zeros(0)


class OpenLevels:
    """The levels of the vmaps that are running, on any thread; those that run again in a backward pass too."""

    def __init__(self) -> None:
        self._openings: dict[int, set[object]] = {}  # of each level; none once it is closed
        self._lock = threading.Lock()

    def __contains__(self, level: int) -> bool:
        return bool(self._openings.get(level))

    def add(self, level: int, context: Undone) -> None:
        """Open a level until `context` ends."""
        with self._lock:
            for closed in [known for known, openings in self._openings.items() if not openings]:
                del self._openings[closed]
            openings = self._openings.setdefault(level, set())
            opening = object()
            context.undo(openings.discard, opening)
            openings.add(opening)

    def __len__(self) -> int:
        return sum(map(bool, self._openings.values()))


open_levels = OpenLevels()


class NotBatchableError(RuntimeError):
    """Something that works for one sample and has no meaning for a batch."""


_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations: each sample has its own value, so no single Python "
    "number can stand for it."
)
_CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. Samples may disagree "
    "about the branch; use wengert.where, or call the function in a loop."
)


@functools.cache
def _dispatcher() -> Any:
    from ._dispatch import dispatch  # which needs this module

    return dispatch


def move_to_front(value: Any, dim: int) -> Any:
    """Return a view with the batch dimension in front."""
    return value if dim == 0 else value.movedim(dim, 0)


class BatchedTensor(Tensor):
    """One sample of a batch; made by vmap only."""

    _value: Any
    _batch_dim: int
    _level: int

    @staticmethod
    def wrap(value: Any, dim: int, level: int) -> BatchedTensor:
        """Return the sample of `value` along `dim`."""
        tensor: BatchedTensor = Tensor._make_subclass(BatchedTensor, _NOTHING)
        tensor._value = value
        tensor._batch_dim = dim
        tensor._level = level
        return tensor

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _dispatcher()(func, args, kwargs or {})

    # --- Shape
    @property
    def shape(self) -> Any:
        sizes = list(self._value.shape)
        del sizes[self._batch_dim]
        return wengert.Size(sizes)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size along one dimension."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def ndim(self) -> int:
        return self._value.ndim - 1  # type: ignore[no-any-return]

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self._value.ndim - 1  # type: ignore[no-any-return]

    ndimension = dim

    def numel(self) -> int:
        """Return the number of elements of one sample."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Return the strides of a sample."""
        strides = list(self._value.stride())
        del strides[self._batch_dim]
        return tuple(strides) if dim is None else strides[dim]

    def is_contiguous(self, **options: Any) -> bool:
        """Return whether a sample is contiguous."""
        value = self._value
        sample = value.select(self._batch_dim, 0) if value.shape[self._batch_dim] else value
        return sample.is_contiguous(**options)  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self.numel() * self._value.itemsize  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]  # type: ignore[no-any-return]

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    # --- Views that Tensor has as attributes
    @property
    def T(self) -> Any:  # noqa: N802
        return self.permute(*reversed(range(self.ndim)))

    @property
    def mT(self) -> Any:  # noqa: N802
        return self.transpose(-2, -1)

    @property
    def mH(self) -> Any:  # noqa: N802
        return self.transpose(-2, -1).conj()

    @property
    def H(self) -> Any:  # noqa: N802
        return self.mH if self.ndim else self

    @property  # type: ignore[misc]  # a sample's parts are not assigned
    def real(self) -> Any:
        return wengert.real(self) if self.is_complex() else self

    @property  # type: ignore[misc]
    def imag(self) -> Any:
        return wengert.imag(self)

    @property
    def data(self) -> Any:  # type: ignore[override]
        return self._like(self._value.data)

    @property
    def grad(self) -> Any:  # type: ignore[override]
        gradient = self._value.grad
        return None if gradient is None else self._like(gradient)

    _base = None

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

    # --- Questions without an answer
    def item(self) -> NoReturn:
        """Raise RuntimeError: a batch has no single value."""
        raise NotBatchableError(_ITEM)

    __float__ = __int__ = __index__ = __complex__ = item

    def __contains__(self, element: Any) -> NoReturn:
        raise NotBatchableError(_ITEM)

    def __bool__(self) -> NoReturn:
        raise NotBatchableError(_CONTROL_FLOW)

    is_nonzero = __bool__

    def tolist(self) -> NoReturn:
        """Raise RuntimeError: a batch has no single value."""
        raise NotBatchableError(
            "Cannot access data pointer of Tensor that doesn't have storage: inside vmap a tensor stands "
            "for one sample "
            "of a batch; convert the result of vmap instead."
        )

    numpy = __array__ = data_ptr = __dlpack__ = tolist  # type: ignore[assignment]

    def __repr__(self, **_: Any) -> str:
        from ._frames import depth_of_level

        inner = "\n".join("    " + line for line in repr(self._value).splitlines())
        return f"BatchedTensor(lvl={depth_of_level(self._level)}, bdim={self._batch_dim}, value=\n{inner}\n)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __hash__(self) -> int:
        return id(self)


def _delegate(name: str) -> None:
    """Answer an attribute of Tensor, or a method without arguments, from the tensor inside."""
    if callable(getattr(Tensor, name)):
        setattr(BatchedTensor, name, lambda self: getattr(self._value, name)())
    else:
        setattr(BatchedTensor, name, property(lambda self: getattr(self._value, name)))


_ALIKE = (
    "dtype device layout itemsize is_cpu is_meta is_cuda is_sparse is_quantized is_nested requires_grad grad_fn",
    "is_leaf output_nr retains_grad _version element_size is_floating_point is_complex is_signed is_inference _is_view",
    "storage_offset",
)
for _name in " ".join(_ALIKE).split():
    _delegate(_name)
