"""Differentiable messages from one rank to another.

A message that a graph records is a link between two graphs: the receiver's node sends the gradient back to the sender's
node. Both have to run, and in matching order: the sender gets a *token*, a zero that hangs on its node, and whoever
adds it to a loss (or calls its ``backward``) takes the node into the pass. Gradients are told apart by the number of
their link, so it does not matter in which order the passes reach them.

Before the tensor goes a header: what it is, whether the sender records, whether a tangent follows.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import wengert as wg
from wengert import _C
from wengert._C import Tensor
from wengert.autograd import Function
from wengert.autograd.forward_ad import make_dual, unpack_dual
from wengert.autograd.function import once_differentiable

from ._collectives import describe
from ._errors import DistError
from ._groups import ProcessGroup
from ._point_to_point import incoming, outgoing
from ._staging import plain
from ._work import Work

_RECORDS, _HAS_TANGENT = 1, 2
_numbers = itertools.count()
_TAGS = 1 << 15  # as many as every MPI has


class Link:
    """The connection of one message, at one end.

    Parameters
    ----------
    group : ProcessGroup
    peer : int
        The other end, its rank in the group.
    tag : int
        Of the message on its way there.
    """

    def __init__(self, group: ProcessGroup, peer: int, tag: int) -> None:
        self.group, self.peer, self.tag = group, peer, tag
        self.number = 0

    def put(self, tensor: Tensor, *, back: bool = False) -> None:
        """Send without waiting: a copy is sent."""
        communicator, tag = self._way(back)
        steps = outgoing(self.group, communicator, plain(tensor.detach().clone()), self.peer, tag)
        self._submit("send", steps)

    def get(self, shape: Any, dtype: Any, device: Any, *, back: bool = False) -> Tensor:
        """Receive."""
        communicator, tag = self._way(back)
        flat = wg.empty(shape, dtype=dtype).reshape(-1)
        self._submit("recv", incoming(self.group, communicator, flat, self.peer, tag)).wait()
        return flat.view(shape).to(device)

    def _way(self, back: bool) -> tuple[Any, int]:
        # Messages between two ranks are no collectives, so they may use the collectives' communicator.
        return (self.group.wires.communicator, self.number) if back else (self.group.direct, self.tag)

    def _submit(self, name: str, steps: Any) -> Work:
        work = Work(name, steps)
        work.members = frozenset({self.group.ranks[self.peer]})
        return self.group.submit(work, direct=True)


def send(link: Link, tensor: Tensor) -> Tensor:
    """Send with all tangents; return the token."""
    return _send_at(link, tensor, _C._current_dual_level())


def recv(link: Link, like: Tensor) -> Tensor:
    """Receive with all tangents."""
    return _recv_at(link, like, _C._current_dual_level())


def _send_at(link: Link, tensor: Tensor, level: int) -> Tensor:
    if level < 0:
        return _send_plain(link, tensor)
    primal, tangent = unpack_dual(tensor, level=level)
    _put_header(link, tensor, level, 0 if tangent is None else _HAS_TANGENT)
    token = _send_at(link, primal, level - 1)
    return token if tangent is None else make_dual(token, _send_at(link, tangent, level - 1), level=level)


def _recv_at(link: Link, like: Tensor, level: int) -> Tensor:
    if level < 0:
        return _recv_plain(link, like)
    bits = _get_header(link, like, level)
    primal = _recv_at(link, like, level - 1)
    return make_dual(primal, _recv_at(link, like, level - 1), level=level) if bits & _HAS_TANGENT else primal


def _send_plain(link: Link, tensor: Tensor) -> Tensor:
    link = Link(link.group, link.peer, link.tag)
    link.number = next(_numbers) % _TAGS
    _put_header(link, tensor, -1, _RECORDS if tensor.requires_grad and wg.is_grad_enabled() else 0)
    token: Tensor = _Sent.apply(link, tensor)
    return token


def _recv_plain(link: Link, like: Tensor) -> Tensor:
    link = Link(link.group, link.peer, link.tag)
    records = bool(_get_header(link, like, -1) & _RECORDS)
    if records and not wg.is_grad_enabled():
        raise DistError(
            f"[recv] rank {link.group.ranks[link.peer]} records what it sends, so this rank must not be under no_grad: "
            "it would send no gradient back"
        )
    anchor = wg.empty(0, dtype=wg.float32, requires_grad=records)
    result: Tensor = _Received.apply(link, anchor, like.detach())
    return result


def _description(tensor: Tensor, level: int) -> list[int]:
    return list(hashlib.blake2b(f"{describe(tensor)} {level}".encode(), digest_size=16).digest())


def _put_header(link: Link, tensor: Tensor, level: int, bits: int) -> None:
    high, low = divmod(link.number, 256)
    link.put(wg.tensor([bits, high, low, *_description(tensor, level)], dtype=wg.uint8))


def _get_header(link: Link, like: Tensor, level: int) -> int:
    bits, high, low, *said = link.get((19,), wg.uint8, "cpu").tolist()
    if said != _description(like, level):
        raise DistError(
            f"[recv] rank {link.group.ranks[link.peer]} sends something else than {describe(like)} at dual level "
            f"{level}; sender and receiver give tensors of one shape and dtype, and have the same dual levels open"
        )
    link.number = 256 * high + low
    return int(bits)


class _Sent(Function):
    @staticmethod
    def forward(ctx: Any, link: Link, tensor: Tensor) -> Tensor:
        ctx.link, ctx.like = link, (tensor.shape, tensor.dtype, tensor.device)
        link.put(tensor)
        return tensor.new_zeros(())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, ctx.link.get(*ctx.like, back=True)


class _Received(Function):
    @staticmethod
    def forward(ctx: Any, link: Link, anchor: Tensor, like: Tensor) -> Tensor:
        ctx.link = link
        return link.get(like.shape, like.dtype, like.device)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        ctx.link.put(grad, back=True)
        return None, None, None
