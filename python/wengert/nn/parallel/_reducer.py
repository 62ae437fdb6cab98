"""Averages gradients over ranks while the backward pass goes on.

Every parameter has a hook that runs when its gradient of a pass is complete. It copies the gradient, divided by the
number of ranks, into the place that it has in a bucket (`_buckets.py`); when a bucket is full its all-reduce begins,
and the pass goes on with what is left. Buckets go in one fixed order, since all ranks must begin the same collectives
in the same order. At the end of the pass a callback waits for all, and puts the averages where the gradients were.

At first buckets are in the reverse of the order in which parameters were registered. After the first pass they are
made anew, in the order in which gradients became ready on the first rank: that one tells the others.

Sums go in the order of ranks (`wengert.distributed`), so training on n ranks gives the bits that one process gets which
accumulates the n parts of a batch, each divided by n, in turn.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

import wengert as wg
from wengert._C import Tensor
from wengert.distributed import ProcessGroup, ReduceOp, all_reduce, broadcast

from ._buckets import Bucket, make_buckets


class Reducer:
    """The averages of one module's gradients.

    Parameters
    ----------
    named : sequence of (str, Tensor)
        The parameters that require a gradient.
    group : ProcessGroup
    capacity : int
        Bytes in a bucket.
    find_unused : bool
        Whether a pass may leave parameters out.
    as_views : bool
        Whether ``param.grad`` lies in the bucket itself.
    """

    def __init__(
        self,
        named: Sequence[tuple[str, Tensor]],
        group: ProcessGroup,
        capacity: int,
        find_unused: bool,
        as_views: bool,
    ) -> None:
        self._names = [name for name, _ in named]
        self._params = [param for _, param in named]
        self._group, self._capacity = group, capacity
        self._find_unused, self._as_views = find_unused, as_views
        self._lock = threading.RLock()  # hooks may run on several threads of the engine
        self._arranged = False
        self._armed = False
        self._arrange(range(len(named) - 1, -1, -1))
        own = weakref.ref(self)
        handles = [
            param.register_post_accumulate_grad_hook(_Ready(own, index)) for index, param in enumerate(self._params)
        ]
        weakref.finalize(self, _remove, handles)

    @property
    def buckets(self) -> list[Bucket]:
        """The buckets, in the order in which they go."""
        return self._buckets

    def prepare(self, synchronize: bool) -> None:
        """Before a forward pass: the next backward pass averages gradients, or does not.

        Raises
        ------
        RuntimeError
            If the last one came to no end.
        """
        with self._lock:
            if self._armed and any(bucket.work is not None for bucket in self._buckets):
                raise RuntimeError(
                    "Expected to have finished reduction in the prior iteration before starting a new one: the last "
                    "backward pass ended with an error while gradients were on their way"
                )
            self._armed = synchronize
            self._begun = False
            self._order: list[int] = []
            self._next = 0
            for bucket in self._buckets:
                bucket.reset()

    def begin(self) -> None:
        """A backward pass has come here: at its end everything is to be averaged."""
        with self._lock:
            if self._armed and not self._begun:
                self._begun = True
                wg.autograd.Variable._execution_engine.queue_callback(self._finish)

    def ready(self, index: int) -> None:
        """The gradient of a parameter is complete."""
        with self._lock:
            if not self._armed:
                return
            self.begin()
            if index in self._order:
                raise RuntimeError(
                    "Expected to mark a variable ready only once. Parameter "
                    f"{self._names[index]} has got a gradient twice since the last forward pass: call the module once "
                    "before each backward pass, and do not checkpoint it reentrantly"
                )
            self._take(index, self._params[index].grad)

    def _take(self, index: int, grad: Tensor | None) -> None:
        bucket = self._bucket_of[index]
        view = bucket.views[index]
        self._order.append(index)
        with wg.no_grad():
            if grad is None:
                view.zero_()
            else:
                wg.div(grad.detach(), self._group.size(), out=view)
                if self._as_views:
                    self._params[index].grad = view
        bucket.pending -= 1
        while self._next < len(self._buckets) and self._buckets[self._next].pending == 0:
            bucket = self._buckets[self._next]
            bucket.work = all_reduce(bucket.flat, group=self._group, async_op=True)
            self._next += 1

    def _finish(self) -> None:
        """At the end of a backward pass."""
        with self._lock:
            used = set(self._order)
            unused = [index for index in range(len(self._params)) if index not in used]
            if unused and not self._find_unused:
                raise RuntimeError(
                    "Expected to have finished reduction in the prior iteration before starting a new one. These "
                    f"parameters got no gradient on rank {self._group.ranks[self._group.rank()]}: "
                    f"{', '.join(self._names[index] for index in unused)}; give find_unused_parameters=True to "
                    "DistributedDataParallel if they take no part in every loss"
                )
            order = list(self._order)
            for index in unused:
                self._take(index, None)
            everywhere = self._used_anywhere(used) if self._find_unused else used
            for bucket in self._buckets:
                bucket.work.wait()
                self._give_back(bucket, everywhere)
            self._armed = False
            if not self._arranged:
                self._rearrange(order + unused)

    def _give_back(self, bucket: Bucket, used: set[int]) -> None:
        with wg.no_grad():
            for index, view in bucket.views.items():
                param = self._params[index]
                if index not in used:
                    continue
                if self._as_views or param.grad is None:
                    param.grad = view if self._as_views else view.clone()
                else:
                    param.grad.copy_(view)

    def _used_anywhere(self, used: set[int]) -> set[int]:
        """Return which parameters have a gradient on any rank."""
        marks = wg.zeros(len(self._params), dtype=wg.uint8)
        marks[list(used)] = 1
        all_reduce(marks, ReduceOp.MAX, self._group)
        return set(marks.nonzero().flatten().tolist())

    def _rearrange(self, order: list[int]) -> None:
        told = wg.tensor(order)
        broadcast(told, group=self._group, group_src=0)
        self._arranged = True
        if not self._as_views:  # gradients that lie in buckets stay there
            self._arrange(told.tolist())

    def _arrange(self, order: Sequence[int]) -> None:
        self._buckets = make_buckets(self._params, order, self._capacity)
        self._bucket_of = {index: bucket for bucket in self._buckets for index in bucket.indices}


class _Ready:
    """The hook of a parameter; does not keep the reducer alive."""

    def __init__(self, reducer: Any, index: int) -> None:
        self._reducer, self._index = reducer, index

    def __call__(self, param: Tensor) -> None:
        reducer = self._reducer()
        if reducer is not None:
            reducer.ready(self._index)


def _remove(handles: Sequence[Any]) -> None:
    for handle in handles:
        handle.remove()
