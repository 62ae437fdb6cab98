"""Writes of a sample into memory that is the same for all samples.

Memory that the function under `vmap` made itself (`o = zeros(4); o[:2] = x`) stands for that of one sample, so it
becomes a batch when the first sample is written into it: the tensor that the function holds is from then on a
`BatchedTensor`. Its memory knows at which level it was made. What came from outside would have to hold all samples at
once, and other views of the memory would go on without the batch: both are errors.
"""

from __future__ import annotations

from typing import Any

from wengert import _C
from wengert._C import Tensor

from .._batch import Batch
from .._batched_tensor import BatchedTensor, NotBatchableError
from .._frames import plain

_INCOMPATIBLE = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` "
    "in extra_args that "
    "has more elements than `self`. This happened due to `other` being vmapped over but `self` not being "
    "vmapped over in "
    "a vmap. Please try to use out-of-place operators instead of inplace arithmetic. (Memory that the function makes "
    "itself may be written, as long as no further view of it is in use.)"
)


def batched_memory(target: Any, batch: Batch) -> Any:
    """Return a tensor that is about to be written, which is a batch then if it was none.

    Raises
    ------
    NotBatchableError
        If its memory is not the function's own, or seen by others.
    """
    if batch.has(target):
        return target
    memory = plain(target)
    base = target._base
    is_own = _C._made_at_level(memory) >= batch.level and not (memory.requires_grad and memory.is_leaf)
    if not is_own or _C._aliases(memory) != (1 if base is None else 2):
        raise NotBatchableError(_INCOMPATIBLE)
    if type(target) is BatchedTensor:
        value = _copies(target, batch)
        target._value, target._batch_dim, target._level = value, 0, batch.level
        return target
    if type(target) is not Tensor or not (base is None or (type(base) is Tensor and base.is_contiguous())):
        raise NotBatchableError(_INCOMPATIBLE)
    whole = _copies(target if base is None else base, batch)
    if base is not None:
        place = target.storage_offset() - base.storage_offset()
        view = whole.as_strided((batch.size, *target.shape), (base.numel(), *target.stride()), place)
        _replace(base, whole, batch)
        whole = view
    _replace(target, whole, batch)
    return target


def _copies(tensor: Any, batch: Batch) -> Any:
    return tensor.expand(batch.size, *tensor.shape).clone()


def _replace(tensor: Any, value: Any, batch: Batch) -> None:
    """Let an object of Python stand for a sample of `value`."""
    sample = BatchedTensor.wrap(value, 0, batch.level)
    _C._swap_tensors(tensor, sample)
    tensor.__class__ = BatchedTensor
    tensor.__dict__.update(sample.__dict__)
