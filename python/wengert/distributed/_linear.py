"""Differentiable collectives: each is a linear map of the tensors of all ranks, and its adjoint is another one.

    all_reduce     <->  itself               broadcast  <->  reduce
    all_gather     <->  reduce_scatter       scatter    <->  gather
    all_to_all     <->  itself, with the lengths of parts exchanged

The table is `Collective.adjoint`. From it come both modes, to any order: reverse applies the adjoint to the gradient,
forward applies the map to the tangent, and each of these is again a differentiable collective (`apply`).

A derivative is a collective too, so all ranks must take part in it, or none. Therefore ranks first agree
(`_agreement.py`): if the tensor of any rank requires a gradient, the result requires one on all, and if any carries a
tangent, all get one, where they have none a zero. What the ranks compute together is one function, the sum of the
losses of all: the gradient of a rank's tensor counts its share in every rank's loss.

Reductions other than sums are no linear maps; `nn/functional.py` composes them of `all_gather` and the reductions of
one process.
"""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert import _C
from wengert._C import Tensor
from wengert.autograd import Function
from wengert.autograd.forward_ad import make_dual, unpack_dual

from . import _collectives as collectives
from ._agreement import agree
from ._collectives import describe
from ._errors import DistError
from ._groups import ProcessGroup

_RECORDS, _DOES_NOT_RECORD, _HAS_TANGENT = 1, 2, 4


class Collective:
    """A linear map from a tensor on each rank to a tensor on each rank. On ranks without a result it is zero.

    Parameters
    ----------
    group : ProcessGroup
    root : int
        The rank in the group that has one side by itself, where there is one.
    """

    name: str
    adjoint_name: str

    def __init__(self, group: ProcessGroup, root: int = 0) -> None:
        self.group, self.root = group, root
        self.here = group.rank() == root
        self.derivative_of = 0  # the number of the call that this one differentiates: tells like ones apart

    @property
    def adjoint(self) -> Collective:
        """Return the map of cotangents."""
        return _BY_NAME[self.adjoint_name](self.group, self.root)

    def run(self, tensor: Tensor) -> Tensor:
        """Compute it, without history."""
        raise NotImplementedError

    def __str__(self) -> str:
        whose = f" for call {self.derivative_of}" if self.derivative_of else ""
        return f"{self.name} (root {self.root}){whose}"


class AllReduce(Collective):
    name = adjoint_name = "all_reduce"

    def run(self, tensor: Tensor) -> Tensor:
        result = tensor.clone(memory_format=wg.contiguous_format)
        collectives.all_reduce(result, group=self.group)
        return result


class Broadcast(Collective):
    name, adjoint_name = "broadcast", "reduce"

    def run(self, tensor: Tensor) -> Tensor:
        result = tensor.clone(memory_format=wg.contiguous_format)
        collectives.broadcast(result, group=self.group, group_src=self.root)
        return result


class Reduce(Collective):
    name, adjoint_name = "reduce", "broadcast"

    def run(self, tensor: Tensor) -> Tensor:
        result = tensor.clone(memory_format=wg.contiguous_format)
        collectives.reduce(result, group=self.group, group_dst=self.root)
        return result if self.here else wg.zeros_like(tensor)


class AllGather(Collective):
    """From [...] to [ranks,...]."""

    name, adjoint_name = "all_gather", "reduce_scatter"

    def run(self, tensor: Tensor) -> Tensor:
        result = tensor.new_empty((self.group.size(), *tensor.shape))
        collectives.all_gather_into_tensor(result, tensor, self.group)
        return result


class ReduceScatter(Collective):
    """From [ranks,...] to [...]."""

    name, adjoint_name = "reduce_scatter", "all_gather"

    def run(self, tensor: Tensor) -> Tensor:
        result = tensor.new_empty(tensor.shape[1:])
        collectives.reduce_scatter_tensor(result, tensor, group=self.group)
        return result


class Gather(Collective):
    """From [...] to [ranks,...]."""

    name, adjoint_name = "gather", "scatter"

    def run(self, tensor: Tensor) -> Tensor:
        shape = (self.group.size(), *tensor.shape)
        result = tensor.new_empty(shape) if self.here else tensor.new_zeros(()).expand(shape)
        rows = list(result.unbind()) if self.here else None
        collectives.gather(tensor, rows, group=self.group, group_dst=self.root)
        return result


class Scatter(Collective):
    """From [ranks,...], of which only that of the root counts, to [...]."""

    name, adjoint_name = "scatter", "gather"

    def run(self, tensor: Tensor) -> Tensor:
        result = tensor.new_empty(tensor.shape[1:])
        parts = list(tensor.unbind()) if self.here else None
        collectives.scatter(result, parts, group=self.group, group_src=self.root)
        return result


class AllToAll(Collective):
    """Along dimension 0, by parts of given lengths."""

    name = adjoint_name = "all_to_all"

    def __init__(self, group: ProcessGroup, sent: list[int], received: list[int]) -> None:
        super().__init__(group)
        self.sent, self.received = sent, received

    @property
    def adjoint(self) -> Collective:
        return AllToAll(self.group, self.received, self.sent)

    def run(self, tensor: Tensor) -> Tensor:
        result = tensor.new_empty((sum(self.received), *tensor.shape[1:]))
        collectives.all_to_all_single(result, tensor, self.received, self.sent, self.group)
        return result


_BY_NAME: dict[str, type[Collective]] = {
    kind.name: kind for kind in (AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, Gather, Scatter)
}


def apply(collective: Collective, tensor: Tensor) -> Tensor:
    """Compute a collective in both modes. All ranks of its group call this."""
    return _at_level(collective, tensor, _C._current_dual_level())


def _at_level(collective: Collective, tensor: Tensor, level: int) -> Tensor:
    """Apply it to the primal and the tangent of each dual level from one on outwards, then to plain tensors."""
    if level < 0:
        return _apply_plain(collective, tensor)
    primal, tangent = unpack_dual(tensor, level=level)
    bits = _agreed(collective, primal, f"at dual level {level}", 0 if tangent is None else _HAS_TANGENT)
    result = _at_level(collective, primal, level - 1)
    if not any(bits):
        return result
    filled = wg.zeros_like(primal) if tangent is None else tangent
    dual: Tensor = make_dual(result, _at_level(collective, filled, level - 1), level=level)
    return dual


def _apply_plain(collective: Collective, tensor: Tensor) -> Tensor:
    recording = wg.is_grad_enabled()
    own = (_RECORDS if recording and tensor.requires_grad else 0) | (0 if recording else _DOES_NOT_RECORD)
    with collective.group.together:  # what ranks agree on is what comes next, also where several threads communicate
        bits = _agreed(collective, tensor, "", own)
        records = any(word & _RECORDS for word in bits)
        if records and any(word & _DOES_NOT_RECORD for word in bits):
            idle = [collective.group.ranks[at] for at, word in enumerate(bits) if word & _DOES_NOT_RECORD]
            raise DistError(
                f"[{collective.name}] is recorded on some ranks, but not on {idle}, which would be missing in the "
                "backward pass; use no_grad on all ranks or on none"
            )
        anchor = None
        if records:
            # A pass of several threads reaches independent nodes in any order, but ranks must do so in one.
            _C._set_multithreading_enabled(False)
            if not tensor.requires_grad and (tensor.is_floating_point() or tensor.is_complex()):
                anchor = wg.empty(0, dtype=wg.float32, requires_grad=True)  # so that this rank records too
        result: Tensor = _Linear.apply(collective, anchor, tensor)
    return result


def _agreed(collective: Collective, tensor: Tensor, where: str, bits: int) -> list[int]:
    group = collective.group
    group.calls += 1
    shape = describe(tensor) if not isinstance(collective, AllToAll) else str(tensor.dtype)
    return agree(group, f"call {group.calls}: differentiable {collective} of {shape} {where}".rstrip(), bits)


class _Linear(Function):
    @staticmethod
    def forward(collective: Collective, anchor: Tensor | None, tensor: Tensor) -> Tensor:
        return collective.run(tensor)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.collective, ctx.number = inputs[0], inputs[0].group.calls

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        adjoint = ctx.collective.adjoint
        adjoint.derivative_of = ctx.number
        return None, None, apply(adjoint, grad)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], collective: Collective, anchor: Any, tensor: Tensor) -> Any:
        """Let samples travel together: they are the last dimension, which no collective touches."""
        if in_dims[2] is None:
            return _Linear.apply(collective, anchor, tensor), None
        result = _Linear.apply(collective, anchor, tensor.movedim(in_dims[2], -1))
        return result, -1
