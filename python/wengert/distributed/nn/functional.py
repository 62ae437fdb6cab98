"""Differentiable communication: what PyTorch has as ``torch.distributed.nn.functional``, in both modes.

Tensors of all ranks are the arguments of one function, whose value is the sum of what each rank goes on to compute.
So a gradient has a share from every rank: that of `all_reduce` is the sum of the gradients of all. All ranks call the
same functions in the same order, also in backward passes, where each takes part as soon as one does. Every call first
compares what ranks are about to do (a few bytes), and raises on all of them if they differ.

So backward passes of a thread that has recorded one run on that thread alone (`set_multithreading_enabled`): several
threads would reach independent nodes in any order.

All but `send` and `recv` work under `wengert.func.vmap`, in forward mode, and to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert as wg
from wengert._C import Tensor

from .. import _linear, _linked
from .._collectives import split_counts
from .._groups import ProcessGroup, rank_in, resolve
from .._reductions import ReduceOp, check_reducible

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
]


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """Return the tensor of one rank on all.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks; elsewhere than on `src` its values are not used.
    src : int
        The rank, in the world.
    group : ProcessGroup, optional

    Returns
    -------
    Tensor
        Its gradient on `src` is the sum of those of all ranks.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> from wengert.distributed.nn.functional import broadcast
    >>> dist.init_process_group("mpi")
    >>> x = wg.ones(2, requires_grad=True)
    >>> (3 * broadcast(x, src=0)).sum().backward()
    >>> x.grad
    tensor([3., 3.])
    >>> dist.destroy_process_group()
    """
    found = _member("broadcast", group)
    return _linear.apply(_linear.Broadcast(found, rank_in("broadcast", found, src, None, None)), tensor)


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """Return the reduction of the tensors of all ranks.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks.
    op : ReduceOp, default SUM
        ``MIN``, ``MAX`` and ``PRODUCT`` gather the tensors of all ranks first. The gradient of an extremum goes to the
        ranks that have it, in equal shares.
    group : ProcessGroup, optional

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If there is no such reduction of this dtype, or it has no derivative and one is asked for.
    DistError
        If ranks call different collectives, or some of them under `no_grad`.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> from wengert.distributed.nn.functional import all_reduce
    >>> dist.init_process_group("mpi")
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> all_reduce(x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    found = _member("all_reduce", group)
    op = check_reducible("all_reduce", op, tensor.dtype)
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        return _averaged(_linear.apply(_linear.AllReduce(found), tensor), op, found)
    return _reduced(_linear.apply(_linear.AllGather(found), tensor), op)


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """Return the reduction of the tensors of all ranks on one, and zeros on the others.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks.
    dst : int
        The rank, in the world.
    op : ReduceOp, default SUM
    group : ProcessGroup, optional

    Returns
    -------
    Tensor
    """
    found = _member("reduce", group)
    target = rank_in("reduce", found, dst, None, None)
    op = check_reducible("reduce", op, tensor.dtype)
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        return _averaged(_linear.apply(_linear.Reduce(found, target), tensor), op, found)
    return _reduced(_linear.apply(_linear.Gather(found, target), tensor), op)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """Return the tensors of all ranks, in their order.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks.
    group : ProcessGroup, optional

    Returns
    -------
    tuple of Tensor
        One for each rank.
    """
    return tuple(_linear.apply(_linear.AllGather(_member("all_gather", group)), tensor).unbind())


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """Return the tensors of all ranks on one, and as many zeros on the others.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks.
    dst : int, default 0
        The rank, in the world.
    group : ProcessGroup, optional

    Returns
    -------
    tuple of Tensor
        One for each rank.
    """
    found = _member("gather", group)
    target = rank_in("gather", found, dst, None, None)
    return tuple(_linear.apply(_linear.Gather(found, target), tensor).unbind())


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """Return to each rank one of the tensors of one.

    Parameters
    ----------
    tensors : sequence of Tensor
        One for each rank, of one shape and dtype, on all ranks; elsewhere than on `src` their values are not used.
    src : int, default 0
        The rank, in the world.
    group : ProcessGroup, optional

    Returns
    -------
    Tensor
    """
    found = _member("scatter", group)
    source = rank_in("scatter", found, src, None, None)
    return _linear.apply(_linear.Scatter(found, source), _stacked("scatter", tensors, found))


def reduce_scatter(
    output: Tensor | None, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """Reduce lists of tensors, and return to each rank the result at its place.

    Parameters
    ----------
    output : Tensor or None
        Not used and not written: the shape is that of the tensors.
    input_list : sequence of Tensor
        One for each rank, of one shape and dtype.
    op : ReduceOp, default SUM
    group : ProcessGroup, optional

    Returns
    -------
    Tensor
    """
    found = _member("reduce_scatter", group)
    parts = _stacked("reduce_scatter", input_list, found)
    op = check_reducible("reduce_scatter", op, parts.dtype)
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        return _averaged(_linear.apply(_linear.ReduceScatter(found), parts), op, found)
    rows = [1] * found.size()
    return _reduced(_linear.apply(_linear.AllToAll(found, rows, rows), parts), op)


def all_to_all_single(
    output: Tensor | None,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
) -> Tensor:
    """Cut a tensor along dimension 0, send each rank one part, and return those that arrive, in the order of ranks.

    Parameters
    ----------
    output : Tensor or None
        Not used and not written.
    input : Tensor
    output_split_sizes, input_split_sizes : list of int, optional
        Lengths of the parts; equal ones by default.
    group : ProcessGroup, optional

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If parts do not add up to the length of dimension 0.
    """
    found = _member("all_to_all_single", group)
    ranks = found.size()
    split_counts("all_to_all_single", "input", input, input_split_sizes, ranks)
    sent = list(input_split_sizes or [input.shape[0] // ranks] * ranks)
    received = list(output_split_sizes or [input.shape[0] // ranks] * ranks)
    return _linear.apply(_linear.AllToAll(found, sent, received), input)


def all_to_all(
    output_tensor_list: Sequence[Tensor] | None, input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """Send each rank one tensor of a list, and return those that arrive, in the order of ranks.

    Parameters
    ----------
    output_tensor_list : sequence of Tensor or None
        Gives the shapes of what arrives, by default those of `input_tensor_list`; not written.
    input_tensor_list : sequence of Tensor
        One for each rank.
    group : ProcessGroup, optional

    Returns
    -------
    tuple of Tensor
        One from each rank.

    Raises
    ------
    ValueError
        If a list has another length than the group.
    """
    found = _member("all_to_all", group)
    expected = input_tensor_list if output_tensor_list is None else output_tensor_list
    if len(input_tensor_list) != found.size() or len(expected) != found.size():
        raise ValueError(f"[all_to_all] lists must have one tensor for each of the {found.size()} ranks")
    sent, received = [t.numel() for t in input_tensor_list], [t.numel() for t in expected]
    flat = wg.cat([tensor.reshape(-1) for tensor in input_tensor_list])
    parts = _linear.apply(_linear.AllToAll(found, sent, received), flat).split(received)
    return tuple(part.reshape(like.shape) for part, like in zip(parts, expected, strict=True))


def send(tensor: Tensor, dst: int, group: Any = None, tag: int = 0) -> Tensor:
    """Send a tensor to a rank that calls `recv`, and return a zero that stands for it in this rank's graph.

    Parameters
    ----------
    tensor : Tensor
    dst : int
        The rank, in the world.
    group : ProcessGroup, optional
    tag : int, default 0
        Tells messages apart.

    Returns
    -------
    Tensor
        A zero without dimensions. Adding it to a loss, or calling its ``backward``, lets the backward pass of this rank
        wait for the gradient that the receiver sends back.

    Notes
    -----
    It does not wait until the tensor is received. Gradients through messages cannot be differentiated again, tangents
    can.
    """
    found = _member("send", group)
    return _linked.send(_linked.Link(found, rank_in("send", found, dst, None, None), tag), tensor)


def recv(tensor: Tensor, src: int, group: Any = None, tag: int = 0) -> Tensor:
    """Return what a rank sends by `send`.

    Parameters
    ----------
    tensor : Tensor
        Of the shape and dtype of what is sent; its values are not used, and it is not written.
    src : int
        The rank, in the world.
    group : ProcessGroup, optional
    tag : int, default 0

    Returns
    -------
    Tensor
        Requires a gradient if what was sent does, and then sends it back.

    Raises
    ------
    DistError
        If something of another shape or dtype is sent, or it is recorded there but not here.
    """
    found = _member("recv", group)
    return _linked.recv(_linked.Link(found, rank_in("recv", found, src, None, None), tag), tensor)


def _member(name: str, group: Any) -> ProcessGroup:
    found = resolve(name, group)
    if found is None:
        raise ValueError(f"[{name}] this rank is not in the group, and has no result")
    return found


def _stacked(name: str, tensors: Sequence[Tensor], group: ProcessGroup) -> Tensor:
    if len(tensors) != group.size():
        raise ValueError(f"[{name}] expected one tensor for each of the {group.size()} ranks, got {len(tensors)}")
    return wg.stack(list(tensors))


def _averaged(total: Tensor, op: ReduceOp, group: ProcessGroup) -> Tensor:
    return total / group.size() if op is ReduceOp.AVG else total


def _reduced(rows: Tensor, op: ReduceOp) -> Tensor:
    """Reduce [ranks,...] to [...]."""
    if op is ReduceOp.MAX:
        return rows.amax(0)
    if op is ReduceOp.MIN:
        return rows.amin(0)
    if op is ReduceOp.PRODUCT:
        return rows.prod(0)
    function = {ReduceOp.BAND: wg.bitwise_and, ReduceOp.BOR: wg.bitwise_or, ReduceOp.BXOR: wg.bitwise_xor}[op]
    result = rows[0]
    for row in rows[1:]:
        result = function(result, row)
    return result
