"""Messages from one rank to another: `send`, `recv`, and their forms that do not wait.

Messages between two ranks with one tag arrive in the order in which they were sent. They run beside the collectives of
their group, on a communicator of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert._C import Tensor

from ._errors import DistBackendError
from ._groups import ProcessGroup, rank_in, resolve
from ._staging import Staged, check_tensor, finish_all, plain
from ._work import Steps, Work


def isend(
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Begin to send a tensor to a rank.

    Parameters
    ----------
    tensor : Tensor
        Must be left as it is until `Work.wait` returns.
    dst, group_dst : int, optional
        The rank, in the world or in the group: one of the two.
    group : ProcessGroup, optional
    tag : int, default 0
        Tells messages apart: it is received by a `recv` with the same.

    Returns
    -------
    Work or None
        None if this rank is not in the group.

    Raises
    ------
    ValueError
        If the rank is not in the group.
    """
    given, found = check_tensor("send", "tensor", tensor), resolve("isend", group)
    if found is None:
        return None
    target = rank_in("send", found, dst, group_dst, None)
    work = Work("send", outgoing(found, found.direct, plain(given), target, tag), results=[tensor])
    work.members = frozenset({found.ranks[target]})
    return found.submit(work, direct=True)


def irecv(
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Begin to receive a tensor.

    Parameters
    ----------
    tensor : Tensor
        Of the size and dtype of what was sent; overwritten.
    src, group_src : int, optional
        The rank, in the world or in the group, that sends; any by default, and `Work.source_rank` tells which.
    group : ProcessGroup, optional
    tag : int, default 0

    Returns
    -------
    Work or None
        None if this rank is not in the group.

    Raises
    ------
    ValueError
        If the rank is not in the group.
    """
    taken, found = check_tensor("recv", "tensor", tensor), resolve("irecv", group)
    if found is None:
        return None
    source = None if src is None and group_src is None else rank_in("recv", found, src, group_src, None)
    staged = Staged(taken, reads=False)
    work: Work

    def arrived(status: Any) -> None:
        work.source = found.ranks[status.Get_source()]

    steps = incoming(found, found.direct, staged.flat, source, tag, arrived)
    work = Work("recv", steps, results=[tensor], finish=finish_all([staged]))
    work.members = frozenset(found.ranks if source is None else {found.ranks[source]})
    return found.submit(work, direct=True)


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to a rank, and wait until it may be changed again. Arguments are those of `isend`.

    Raises
    ------
    ValueError
        If the rank is this one, or not in the group.
    """
    found = resolve("send", group)
    if found is not None and rank_in("send", found, dst, group_dst, None) == found.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the current process"
        )
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor, and return the rank that has sent it. Arguments are those of `irecv`.

    Returns
    -------
    int
        -1 if this rank is not in the group.
    """
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """One of several messages that begin together, see `batch_isend_irecv`.

    Parameters
    ----------
    op : callable
        `isend` or `irecv`.
    tensor : Tensor
    peer : int, optional
        The other rank, in the world; or `group_peer`, in the group.
    group : ProcessGroup, optional
    tag : int, default 0

    Raises
    ------
    ValueError
        If `op` is something else.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type isend or irecv.")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = (
            op,
            tensor,
            peer,
            group,
            tag,
            group_peer,
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several messages.

    Returns
    -------
    list of Work
        One for each.

    Raises
    ------
    ValueError
        If the list is empty or holds something else.

    Examples
    --------
    Everybody passes a tensor to the next rank:

    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("mpi")
    >>> rank, size = dist.get_rank(), dist.get_world_size()
    >>> given, taken = wg.full((2,), float(rank)), wg.empty(2)
    >>> works = dist.batch_isend_irecv([
    ...     dist.P2POp(dist.isend, given, (rank + 1) % size),
    ...     dist.P2POp(dist.irecv, taken, (rank - 1) % size),
    ... ])
    >>> [work.wait() for work in works]
    [True, True]
    >>> taken
    tensor([0., 0.])
    >>> dist.destroy_process_group()
    """
    if not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to be of type ``wengert.distributed.P2POp``.")
    begun = [op.op(op.tensor, op.peer, op.group, op.tag, op.group_peer) for op in p2p_op_list]
    return [work for work in begun if work is not None]


def outgoing(group: ProcessGroup, communicator: Any, tensor: Tensor, target: int, tag: int) -> Steps:
    """Send a flat tensor."""
    yield [communicator.Isend(group.wires.bytes_of(tensor), target, tag)]


def incoming(
    group: ProcessGroup,
    communicator: Any,
    tensor: Tensor,
    source: int | None,
    tag: int,
    arrived: Callable[[Any], None] = lambda status: None,
) -> Steps:
    """Receive a flat tensor."""
    mpi = group.wires.mpi
    status = mpi.Status()
    sender = mpi.ANY_SOURCE if source is None else source
    yield [_Watched(communicator.Irecv(group.wires.bytes_of(tensor), sender, tag), status)]
    size = status.Get_count(mpi.BYTE)
    if size != tensor.nbytes:
        raise DistBackendError(
            f"[recv] rank {group.ranks[status.Get_source()]} has sent {size} bytes, but the tensor has "
            f"{tensor.nbytes}; "
            "sender and receiver give tensors of one size and dtype"
        )
    arrived(status)


class _Watched:
    """A request whose status is kept."""

    def __init__(self, request: Any, status: Any) -> None:
        self._request, self._status = request, status

    def Test(self) -> bool:  # noqa: N802  # as MPI's requests have it
        return bool(self._request.Test(self._status))
