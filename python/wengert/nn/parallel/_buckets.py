"""Buckets: gradients that travel together, in one flat block of memory.

A message costs time before its first byte, so small gradients share one; but the first bucket should be on its way
early, so it is smaller. A bucket holds gradients of one dtype and device, in the order in which they become ready.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert as wg
from wengert._C import Tensor

FIRST_BUCKET = 1 << 20  # bytes


class Bucket:
    """One of them.

    Parameters
    ----------
    indices : list of int
        Which parameters it serves.
    params : list of Tensor
        Those.
    """

    def __init__(self, indices: list[int], params: list[Tensor]) -> None:
        self.indices = indices
        sizes = [param.numel() for param in params]
        self.flat = wg.zeros(sum(sizes), dtype=params[0].dtype, device=params[0].device)
        parts = self.flat.split(sizes)
        self.views = {index: part.view(param.shape) for index, param, part in zip(indices, params, parts, strict=True)}
        self.pending = len(indices)
        self.work: Any = None

    def reset(self) -> None:
        """Begin to wait for all of its gradients again."""
        self.pending, self.work = len(self.indices), None


def make_buckets(params: Sequence[Tensor], order: Sequence[int], capacity: int) -> list[Bucket]:
    """Pack parameters, in the order in which they become ready.

    Parameters
    ----------
    params : sequence of Tensor
    order : sequence of int
        Their indices.
    capacity : int
        Bytes in a bucket, which the last of its gradients may exceed.
    """
    limit = min(FIRST_BUCKET, capacity)
    filled: dict[Any, tuple[list[int], int]] = {}
    packed: list[list[int]] = []
    for index in order:
        param = params[index]
        kind = (param.dtype, str(param.device))
        indices, size = filled.pop(kind, ([], 0))
        indices.append(index)
        size += param.numel() * param.element_size()
        if size >= limit:
            packed.append(indices)
            limit = capacity
        else:
            filled[kind] = (indices, size)
    packed += [indices for indices, _ in filled.values()]
    return [Bucket(indices, [params[index] for index in indices]) for indices in packed]
