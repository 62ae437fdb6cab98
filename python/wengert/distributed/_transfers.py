"""How the tensors of a group move: each collective as steps on flat, contiguous tensors of the CPU.

Read `all_reduce` first. Tensors small enough are gathered everywhere and reduced by everybody: one message time. Of
others each rank gets one part from all (alltoall), reduces it, and gets the reduced parts back (allgather): each byte
is sent and received twice, less a share of 1/ranks, which is the least that a sum of all can do. Both ways reduce each
element in the order of ranks, so the choice does not show in results.
"""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert._C import Tensor

from ._mpi import memory_of
from ._reductions import ReduceOp, of_mpi, reduce_rows
from ._work import Steps

_SMALL = 1 << 15  # bytes that every rank may receive at once to save a second message


class Wires:
    """What a group's transfers need to know of it."""

    def __init__(self, mpi: Any, communicator: Any, deterministic: bool) -> None:
        self.mpi, self.communicator, self.deterministic = mpi, communicator, deterministic
        self.rank, self.size = communicator.rank, communicator.size

    def bytes_of(self, tensor: Tensor) -> list[Any]:
        """Return a tensor as MPI's functions take it."""
        return [memory_of(self.mpi, tensor), tensor.nbytes, self.mpi.BYTE]

    def parts_of(self, tensor: Tensor, counts: list[int]) -> list[Any]:
        """Return a tensor as the functions take it that cut it into parts, of so many elements each."""
        size = tensor.element_size()
        return [memory_of(self.mpi, tensor), [count * size for count in counts], self.mpi.BYTE]

    def even(self, count: int) -> list[int]:
        """Return how many of `count` elements each rank takes care of."""
        return [(count + self.size - 1 - rank) // self.size for rank in range(self.size)]


def barrier(wires: Wires) -> Steps:
    yield [wires.communicator.Ibarrier()]


def broadcast(wires: Wires, tensor: Tensor, source: int) -> Steps:
    yield [wires.communicator.Ibcast(wires.bytes_of(tensor), source)]


def all_gather(wires: Wires, tensor: Tensor, gathered: Tensor) -> Steps:
    yield [wires.communicator.Iallgather(wires.bytes_of(tensor), _each(wires, gathered))]


def gather(wires: Wires, tensor: Tensor, gathered: Tensor | None, target: int) -> Steps:
    into = None if gathered is None else _each(wires, gathered)
    yield [wires.communicator.Igather(wires.bytes_of(tensor), into, target)]


def scatter(wires: Wires, parts: Tensor | None, tensor: Tensor, source: int) -> Steps:
    given = None if parts is None else _each(wires, parts)
    yield [wires.communicator.Iscatter(given, wires.bytes_of(tensor), source)]


def all_to_all(wires: Wires, given: Tensor, sent: list[int], taken: Tensor, received: list[int]) -> Steps:
    yield [wires.communicator.Ialltoallv(wires.parts_of(given, sent), wires.parts_of(taken, received))]


def all_reduce(wires: Wires, tensor: Tensor, op: ReduceOp) -> Steps:
    mpi, communicator = wires.mpi, wires.communicator
    known = None if wires.deterministic else of_mpi(mpi, op, tensor.dtype)
    if known is not None:
        memory = [memory_of(mpi, tensor), tensor.numel(), known[1]]
        yield [communicator.Iallreduce(mpi.IN_PLACE, memory, known[0])]
    elif tensor.nbytes * wires.size <= _SMALL:
        rows = _rows(tensor, wires.size, tensor.numel())
        yield from all_gather(wires, tensor, rows)
        reduce_rows(rows, op, tensor)
    else:
        counts, own = yield from _own_part(wires, tensor, op)
        tensor[sum(counts[: wires.rank]) :][: counts[wires.rank]].copy_(own)
        yield [communicator.Iallgatherv(mpi.IN_PLACE, wires.parts_of(tensor, counts))]


def reduce(wires: Wires, tensor: Tensor, op: ReduceOp, target: int) -> Steps:
    mpi, communicator, here = wires.mpi, wires.communicator, wires.rank == target
    known = None if wires.deterministic else of_mpi(mpi, op, tensor.dtype)
    if known is not None:
        memory = [memory_of(mpi, tensor), tensor.numel(), known[1]]
        yield [communicator.Ireduce(mpi.IN_PLACE if here else memory, memory if here else None, known[0], target)]
    elif tensor.nbytes * wires.size <= _SMALL:
        rows = _rows(tensor, wires.size, tensor.numel()) if here else None
        yield from gather(wires, tensor, rows, target)
        if rows is not None:
            reduce_rows(rows, op, tensor)
    else:
        counts, own = yield from _own_part(wires, tensor, op)
        into = wires.parts_of(tensor, counts) if here else None
        yield [communicator.Igatherv(wires.bytes_of(own), into, target)]


def reduce_scatter(wires: Wires, parts: Tensor, tensor: Tensor, op: ReduceOp) -> Steps:
    mpi, communicator = wires.mpi, wires.communicator
    known = None if wires.deterministic else of_mpi(mpi, op, tensor.dtype)
    if known is not None:
        given = [memory_of(mpi, parts), tensor.numel(), known[1]]  # MPI counts one part
        taken = [memory_of(mpi, tensor), tensor.numel(), known[1]]
        yield [communicator.Ireduce_scatter_block(given, taken, known[0])]
    else:
        rows = _rows(tensor, wires.size, tensor.numel())
        yield [communicator.Ialltoall(_each(wires, parts), _each(wires, rows))]
        reduce_rows(rows, op, tensor)


def _own_part(wires: Wires, tensor: Tensor, op: ReduceOp) -> Any:
    """Reduce what this rank takes care of; return how much each one does, and the reduced part."""
    counts = wires.even(tensor.numel())
    mine = counts[wires.rank]
    rows = _rows(tensor, wires.size, mine)
    yield [wires.communicator.Ialltoallv(wires.parts_of(tensor, counts), wires.parts_of(rows, [mine] * wires.size))]
    own = wg.empty(mine, dtype=tensor.dtype)
    reduce_rows(rows, op, own)
    return counts, own


def _rows(tensor: Tensor, ranks: int, count: int) -> Tensor:
    return wg.empty(ranks, count, dtype=tensor.dtype)


def _each(wires: Wires, parts: Tensor) -> list[Any]:
    """Return a tensor of one part a rank as MPI's functions take it."""
    return [memory_of(wires.mpi, parts), parts.nbytes // wires.size, wires.mpi.BYTE]
