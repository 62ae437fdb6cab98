"""Objects of Python between ranks: what `wengert.save` writes, `wengert.load` reads.

That is a format that builds tensors and plain containers and can do nothing else, so a message never runs code of its
sender. What it cannot hold (functions, objects of one's own classes) is refused by the sender.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

import wengert as wg
from wengert._C import Tensor

from ._collectives import all_gather as _all_gather
from ._collectives import broadcast as _broadcast
from ._collectives import gather as _gather
from ._groups import ProcessGroup, rank_in, resolve
from ._point_to_point import recv as _recv
from ._point_to_point import send as _send


def encode(obj: Any) -> Tensor:
    """Return an object as bytes."""
    written = io.BytesIO()
    wg.save(obj, written)
    return wg.from_numpy(np.frombuffer(bytearray(written.getbuffer()), np.uint8))


def decode(encoded: Tensor) -> Any:
    """Return the object that `encode` was given."""
    return wg.load(io.BytesIO(encoded.numpy().tobytes()))


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Copy the objects of all ranks into a list on each.

    Parameters
    ----------
    object_list : list
        Of one entry for each rank; overwritten.
    obj : object
        Numbers, strings, tensors, arrays, and lists, tuples and dictionaries of them: what `wengert.save` takes.
    group : ProcessGroup, optional

    Raises
    ------
    ValueError
        If the list has another length.

    Examples
    --------
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("mpi")
    >>> gathered = [None] * dist.get_world_size()
    >>> dist.all_gather_object(gathered, {"rank": dist.get_rank(), "loss": 0.5})
    >>> gathered
    [{'rank': 0, 'loss': 0.5}]
    >>> dist.destroy_process_group()
    """
    found = resolve("all_gather_object", group)
    if found is None:
        return
    _check_length("all_gather_object", object_list, found)
    own = encode(obj)
    lengths = _lengths(own, found)
    rows = [wg.empty(max(lengths), dtype=wg.uint8) for _ in lengths]
    _all_gather(rows, _padded(own, max(lengths)), found)
    object_list[:] = [decode(row[:length]) for row, length in zip(rows, lengths, strict=True)]


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Copy the objects of all ranks into a list on one.

    Parameters
    ----------
    obj : object
        What `wengert.save` takes.
    object_gather_list : list, optional
        On `dst`, of one entry for each rank; None elsewhere.
    dst, group_dst : int, optional
        The rank that gets them; 0 of the group by default.
    group : ProcessGroup, optional
    """
    found = resolve("gather_object", group)
    if found is None:
        return
    target = rank_in("gather_object", found, dst, group_dst, 0)
    own = encode(obj)
    lengths = _lengths(own, found)
    rows = None
    if found.rank() == target:
        if object_gather_list is None:
            raise ValueError("[gather_object] Argument `object_gather_list` must be specified on the root rank")
        _check_length("gather_object", object_gather_list, found)
        rows = [wg.empty(max(lengths), dtype=wg.uint8) for _ in lengths]
    _gather(_padded(own, max(lengths)), rows, group=found, group_dst=target)
    if rows is not None and object_gather_list is not None:
        object_gather_list[:] = [decode(row[:length]) for row, length in zip(rows, lengths, strict=True)]


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """Copy the objects in a list on one rank into those of all others.

    Parameters
    ----------
    object_list : list
        Of one length on all ranks; overwritten, but for `src`.
    src, group_src : int, optional
        The rank that sends; 0 of the group by default.
    group : ProcessGroup, optional
    device
        Accepted: objects travel in memory of the host.
    """
    found = resolve("broadcast_object_list", group)
    if found is None:
        return
    source = rank_in("broadcast_object_list", found, src, group_src, 0)
    here = found.rank() == source
    own = encode(list(object_list)) if here else wg.empty(0, dtype=wg.uint8)
    length = wg.tensor(own.numel())
    _broadcast(length, group=found, group_src=source)
    sent = own if here else wg.empty(int(length.item()), dtype=wg.uint8)
    _broadcast(sent, group=found, group_src=source)
    if not here:
        object_list[:] = decode(sent)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Copy one of the objects in a list on one rank to each.

    Parameters
    ----------
    scatter_object_output_list : list
        Its first entry is overwritten.
    scatter_object_input_list : list, optional
        On `src`, one object for each rank.
    src, group_src : int, optional
        The rank that has them; 0 of the group by default.
    group : ProcessGroup, optional

    Raises
    ------
    ValueError
        If the output list is empty, or the input list has another length.
    """
    found = resolve("scatter_object_list", group)
    if found is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    source = rank_in("scatter_object_list", found, src, group_src, 0)
    if found.rank() == source:
        _check_length("scatter_object_list", scatter_object_input_list, found)
    objects = list(scatter_object_input_list or []) if found.rank() == source else [None] * found.size()
    for target, obj in enumerate(objects):  # the objects of others are none of a rank's business
        if found.rank() == source and target != source:
            send_object_list([obj], group=found, group_dst=target)
    received = [objects[source]] if found.rank() == source else [None]
    if found.rank() != source:
        recv_object_list(received, group=found, group_src=source)
    scatter_object_output_list[0] = received[0]


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None, group_dst: int | None = None
) -> None:
    """Send the objects in a list to a rank. Arguments are those of `send` and `broadcast_object_list`."""
    found = resolve("send_object_list", group)
    if found is None:
        return
    target = rank_in("send_object_list", found, dst, group_dst, None)
    encoded = encode(list(object_list))
    _send(wg.tensor(encoded.numel()), group=found, group_dst=target)
    _send(encoded, group=found, group_dst=target)


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> int:
    """Receive objects into a list, and return the rank that has sent them; -1 if this rank is not in the group."""
    found = resolve("recv_object_list", group)
    if found is None:
        return -1
    length = wg.zeros((), dtype=wg.int64)
    source = _recv(length, src, found, group_src=group_src)
    encoded = wg.empty(int(length.item()), dtype=wg.uint8)
    _recv(encoded, source, found)
    object_list[:] = decode(encoded)
    return source


def _lengths(own: Tensor, group: ProcessGroup) -> list[int]:
    rows = [wg.zeros(1, dtype=wg.int64) for _ in range(group.size())]
    _all_gather(rows, wg.tensor([own.numel()]), group)
    return [int(row.item()) for row in rows]


def _padded(encoded: Tensor, length: int) -> Tensor:
    padded = wg.zeros(length, dtype=wg.uint8)
    padded[: encoded.numel()] = encoded
    return padded


def _check_length(name: str, objects: Any, group: ProcessGroup) -> None:
    if not isinstance(objects, list) or len(objects) != group.size():
        raise ValueError(f"[{name}] the list must have one entry for each of the {group.size()} ranks")
