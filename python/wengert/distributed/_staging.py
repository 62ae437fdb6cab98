"""Tensors as MPI can take them: flat, contiguous, on the CPU.

A tensor that is all of this goes as it is, and results are written into it. Of any other there is a copy; what it
receives is copied back by the thread that waits, so that it is ordered on that thread's streams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wengert as wg
from wengert._C import Tensor


def check_tensor(name: str, what: str, tensor: Any) -> Tensor:
    """Return the memory of a tensor without its history, or say why it has none."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"[{name}] Invalid function argument. Expected parameter `{what}` of type Tensor, instead got "
                        f"{type(tensor).__name__}")  # fmt: skip
    if tensor.device.type == "meta":
        raise RuntimeError(f"[{name}] `{what}` is on the device meta, where tensors have no elements to send")
    return tensor.detach()


def check_tensors(name: str, what: str, tensors: Any, count: int | None) -> list[Tensor]:
    """Return the memory of each tensor of a list of `count`."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"[{name}] Invalid function argument. Expected parameter `{what}` of type List[Tensor], "
                        f"instead got {type(tensors).__name__}")  # fmt: skip
    if count is not None and len(tensors) != count:
        raise ValueError(f"[{name}] `{what}` must have one tensor for each of the {count} ranks, got {len(tensors)}")
    return [check_tensor(name, what, tensor) for tensor in tensors]


def check_alike(name: str, tensors: Sequence[Tensor], other: Tensor) -> None:
    """Refuse tensors of other sizes or dtypes than one."""
    for tensor in tensors:
        if tensor.dtype != other.dtype or tensor.shape != other.shape:
            raise ValueError(
                f"[{name}] all tensors must have one shape and dtype, got {tuple(tensor.shape)} {tensor.dtype} beside "
                f"{tuple(other.shape)} {other.dtype}"
            )


class Staged:
    """What MPI reads or writes in place of a tensor, and what is to be done afterwards."""

    def __init__(self, tensor: Tensor, *, reads: bool = True, writes: bool = True) -> None:
        self.tensor = tensor
        self.direct = tensor.device.type == "cpu" and tensor.is_contiguous()
        if self.direct:
            self.flat = tensor.reshape(-1)
            if tensor.is_conj() or tensor.is_neg():
                self.direct = False
        if not self.direct:
            self.flat = plain(tensor) if reads else wg.empty(tensor.numel(), dtype=tensor.dtype)
        if writes:
            wg.autograd.graph.increment_version(tensor)

    def finish(self) -> None:
        """Copy what was received into the tensor."""
        if not self.direct:
            self.tensor.copy_(self.flat.view(self.tensor.shape))


def plain(tensor: Tensor) -> Tensor:
    """Return a flat, contiguous tensor of the CPU with the same elements, itself if it is one."""
    return tensor.to("cpu").resolve_conj().resolve_neg().contiguous().reshape(-1)


def finish_all(staged: Sequence[Staged]) -> Callable[[], None] | None:
    """Return what finishes each, or None where there is nothing to do."""
    late = [s for s in staged if not s.direct]
    if not late:
        return None

    def finish() -> None:
        with wg.no_grad():
            for s in late:
                s.finish()

    return finish
