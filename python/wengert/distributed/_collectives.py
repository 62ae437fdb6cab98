"""Collectives that write into tensors, by PyTorch's names: `all_reduce` and its like.

Each checks its arguments, brings tensors into the form that MPI takes (`_staging.py`), and submits the steps of
`_transfers.py`. All are alike in

- ``group``: who takes part, by default all ranks; a rank that is not in the group gets None and a warning;
- ``async_op``: whether to return a `Work` at once, in place of waiting;
- autograd: nothing is recorded; `wengert.distributed.nn.functional` has those that are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wengert as wg
from wengert._C import Tensor

from . import _transfers
from ._agreement import checked
from ._groups import ProcessGroup, rank_in, resolve
from ._reductions import ReduceOp, check_reducible
from ._staging import Staged, check_alike, check_tensor, check_tensors, finish_all, plain
from ._work import Steps, Work


def _run(
    group: ProcessGroup,
    name: str,
    described: str,
    steps: Steps,
    results: Sequence[Tensor],
    finish: Callable[[], None] | None,
    async_op: bool,
) -> Work | None:
    work = Work(name, checked(group, f"{name}({described})", steps), results=results, finish=finish)
    group.submit(work)
    if async_op:
        return work
    work.wait()
    return None


def describe(tensor: Tensor) -> str:
    """Return dtype and shape, as ranks compare them."""
    return f"{str(tensor.dtype).rpartition('.')[2]}{list(tensor.shape)}"


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all ranks, and leave the result in each.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks; it is overwritten.
    op : ReduceOp, default SUM
    group : ProcessGroup, optional
        Who takes part; all by default.
    async_op : bool, default False
        Whether to return without waiting.

    Returns
    -------
    Work or None
        With ``async_op``, what to wait for.

    Raises
    ------
    TypeError, RuntimeError, ValueError
        If there is no such reduction of this dtype, or no process group.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("mpi")
    >>> x = wg.ones(2) * (dist.get_rank() + 1)
    >>> dist.all_reduce(x)  # with two ranks: tensor([3., 3.])
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    taken, found = check_tensor("all_reduce", "tensor", tensor), resolve("all_reduce", group)
    op = check_reducible("all_reduce", op, taken.dtype)
    if found is None:
        return None
    staged = Staged(taken)
    steps = _transfers.all_reduce(found.wires, staged.flat, op)
    return _run(found, "all_reduce", f"{describe(taken)}, {op.name}", steps, [tensor], finish_all([staged]), async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce the tensors of all ranks into that of one; those of the others stay as they are.

    Parameters
    ----------
    tensor : Tensor
        Overwritten on `dst`.
    dst, group_dst : int, optional
        The rank that gets the result, in the world or in the group; 0 of the group by default.
    op : ReduceOp, default SUM
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None
    """
    taken, found = check_tensor("reduce", "tensor", tensor), resolve("reduce", group)
    op = check_reducible("reduce", op, taken.dtype)
    if found is None:
        return None
    target = rank_in("reduce", found, dst, group_dst, 0)
    here = found.rank() == target
    staged = Staged(taken, writes=here)
    steps = _transfers.reduce(found.wires, staged.flat, op, target)
    finish = finish_all([staged]) if here else None
    return _run(found, "reduce", f"{describe(taken)}, {op.name}, to {target}", steps, [tensor], finish, async_op)


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Copy the tensor of one rank into those of all others.

    Parameters
    ----------
    tensor : Tensor
        Sent from `src`, overwritten elsewhere.
    src, group_src : int, optional
        The rank that sends, in the world or in the group; 0 of the group by default.
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None
    """
    taken, found = check_tensor("broadcast", "tensor", tensor), resolve("broadcast", group)
    if found is None:
        return None
    source = rank_in("broadcast", found, src, group_src, 0)
    there = found.rank() != source
    staged = Staged(taken, writes=there)
    steps = _transfers.broadcast(found.wires, staged.flat, source)
    finish = finish_all([staged]) if there else None
    return _run(found, "broadcast", f"{describe(taken)}, from {source}", steps, [tensor], finish, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Put the tensors of all ranks, in their order, into one on each.

    Parameters
    ----------
    output_tensor : Tensor
        Has the elements of `input_tensor` as often as there are ranks: stacked or concatenated along dimension 0.
    input_tensor : Tensor
        Of one shape and dtype on all ranks.
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None

    Raises
    ------
    ValueError
        If sizes or dtypes do not fit.
    """
    name = "all_gather_into_tensor"
    given, found = check_tensor(name, "input_tensor", input_tensor), resolve(name, group)
    taken = check_tensor(name, "output_tensor", output_tensor)
    if found is None:
        return None
    _check_block(name, taken, given, found.size())
    staged = Staged(taken, reads=False)
    steps = _transfers.all_gather(found.wires, plain(given), staged.flat)
    return _run(found, name, describe(given), steps, [output_tensor], finish_all([staged]), async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Copy the tensors of all ranks into a list on each.

    Parameters
    ----------
    tensor_list : list of Tensor
        One for each rank, of the shape and dtype of `tensor`; overwritten.
    tensor : Tensor
        Of one shape and dtype on all ranks.
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.distributed as dist
    >>> dist.init_process_group("mpi")
    >>> gathered = [wg.zeros(2) for _ in range(dist.get_world_size())]
    >>> dist.all_gather(gathered, wg.ones(2))
    >>> gathered
    [tensor([1., 1.])]
    >>> dist.destroy_process_group()
    """
    given, found = check_tensor("all_gather", "tensor", tensor), resolve("all_gather", group)
    if found is None:
        return None
    outputs = check_tensors("all_gather", "tensor_list", tensor_list, found.size())
    check_alike("all_gather", outputs, given)
    block = wg.empty(found.size(), given.numel(), dtype=given.dtype)
    steps = _transfers.all_gather(found.wires, plain(given), block)
    return _run(found, "all_gather", describe(given), steps, tensor_list, lambda: _distribute(block, outputs), async_op)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy the tensors of all ranks into a list on one.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks.
    gather_list : list of Tensor, optional
        On `dst`, one for each rank; None elsewhere.
    dst, group_dst : int, optional
        The rank that gets them; 0 of the group by default.
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None

    Raises
    ------
    ValueError
        If a list is missing on `dst`, or given elsewhere.
    """
    given, found = check_tensor("gather", "tensor", tensor), resolve("gather", group)
    if found is None:
        return None
    target = rank_in("gather", found, dst, group_dst, 0)
    outputs = _list_at_root("gather", "gather_list", gather_list, found, target)
    check_alike("gather", outputs, given)
    here = found.rank() == target
    block = wg.empty(found.size(), given.numel(), dtype=given.dtype) if here else None
    steps = _transfers.gather(found.wires, plain(given), block, target)
    finish = None if block is None else lambda: _distribute(block, outputs)
    return _run(found, "gather", f"{describe(given)}, to {target}", steps, gather_list or [], finish, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy one of the tensors of a list on one rank to each.

    Parameters
    ----------
    tensor : Tensor
        Of one shape and dtype on all ranks; overwritten.
    scatter_list : list of Tensor, optional
        On `src`, one for each rank; None elsewhere.
    src, group_src : int, optional
        The rank that has them; 0 of the group by default.
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None

    Raises
    ------
    ValueError
        If a list is missing on `src`, or given elsewhere.
    """
    taken, found = check_tensor("scatter", "tensor", tensor), resolve("scatter", group)
    if found is None:
        return None
    source = rank_in("scatter", found, src, group_src, 0)
    inputs = _list_at_root("scatter", "scatter_list", scatter_list, found, source)
    check_alike("scatter", inputs, taken)
    staged = Staged(taken, reads=False)
    parts = wg.stack([plain(part) for part in inputs]) if inputs else None
    steps = _transfers.scatter(found.wires, parts, staged.flat, source)
    return _run(found, "scatter", f"{describe(taken)}, from {source}", steps, [tensor], finish_all([staged]), async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the tensors of all ranks, and leave to each rank one part of the result.

    Parameters
    ----------
    output : Tensor
        The part of this rank; overwritten.
    input : Tensor
        Has the elements of `output` as often as there are ranks, along dimension 0.
    op : ReduceOp, default SUM
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None

    Raises
    ------
    ValueError
        If sizes or dtypes do not fit.
    """
    name = "reduce_scatter_tensor"
    given, taken, found = check_tensor(name, "input", input), check_tensor(name, "output", output), resolve(name, group)
    op = check_reducible(name, op, given.dtype)
    if found is None:
        return None
    _check_block(name, given, taken, found.size())
    staged = Staged(taken, reads=False)
    steps = _transfers.reduce_scatter(found.wires, plain(given), staged.flat, op)
    return _run(found, name, f"{describe(taken)}, {op.name}", steps, [output], finish_all([staged]), async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce lists of tensors, and leave to each rank the tensor at its place.

    Parameters
    ----------
    output : Tensor
        Overwritten.
    input_list : list of Tensor
        One for each rank, of the shape and dtype of `output`.
    op : ReduceOp, default SUM
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None
    """
    taken, found = check_tensor("reduce_scatter", "output", output), resolve("reduce_scatter", group)
    op = check_reducible("reduce_scatter", op, taken.dtype)
    if found is None:
        return None
    inputs = check_tensors("reduce_scatter", "input_list", input_list, found.size())
    check_alike("reduce_scatter", inputs, taken)
    staged = Staged(taken, reads=False)
    parts = wg.stack([plain(part) for part in inputs])
    steps = _transfers.reduce_scatter(found.wires, parts, staged.flat, op)
    described = f"{describe(taken)}, {op.name}"
    return _run(found, "reduce_scatter", described, steps, [output], finish_all([staged]), async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Cut a tensor along dimension 0, send each rank one part, and put those that arrive together.

    Parameters
    ----------
    output, input : Tensor
        `output` is overwritten, with the parts from rank 0, 1, ....
    output_split_sizes, input_split_sizes : list of int, optional
        Lengths of the parts; equal ones by default.
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None

    Raises
    ------
    ValueError
        If parts do not add up to the length of dimension 0, or dtypes differ.
    """
    name = "all_to_all_single"
    given, taken, found = check_tensor(name, "input", input), check_tensor(name, "output", output), resolve(name, group)
    if found is None:
        return None
    if given.dtype != taken.dtype:
        raise ValueError(f"[{name}] input and output must have one dtype, got {given.dtype} and {taken.dtype}")
    sent = split_counts(name, "input", given, input_split_sizes, found.size())
    received = split_counts(name, "output", taken, output_split_sizes, found.size())
    staged = Staged(taken, reads=False)
    steps = _transfers.all_to_all(found.wires, plain(given), sent, staged.flat, received)
    return _run(found, name, str(given.dtype), steps, [output], finish_all([staged]), async_op)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Send each rank one tensor of a list, and get one from each.

    Parameters
    ----------
    output_tensor_list, input_tensor_list : list of Tensor
        One for each rank; those of one pair of ranks have one size. `output_tensor_list` is overwritten.
    group : ProcessGroup, optional
    async_op : bool, default False

    Returns
    -------
    Work or None
    """
    found = resolve("all_to_all", group)
    if found is None:
        return None
    outputs = check_tensors("all_to_all", "output_tensor_list", output_tensor_list, found.size())
    inputs = check_tensors("all_to_all", "input_tensor_list", input_tensor_list, found.size())
    dtypes = {tensor.dtype for tensor in (*outputs, *inputs)}
    if len(dtypes) > 1:
        raise ValueError(f"[all_to_all] all tensors must have one dtype, got {', '.join(sorted(map(str, dtypes)))}")
    block = wg.empty(sum(tensor.numel() for tensor in outputs), dtype=outputs[0].dtype)
    received, sent = [tensor.numel() for tensor in outputs], [tensor.numel() for tensor in inputs]
    steps = _transfers.all_to_all(found.wires, wg.cat([plain(part) for part in inputs]), sent, block, received)
    parts = block.split(received)
    return _run(
        found, "all_to_all", str(block.dtype), steps, output_tensor_list, lambda: _distribute(parts, outputs), async_op
    )


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait until all ranks have come here.

    Parameters
    ----------
    group : ProcessGroup, optional
    async_op : bool, default False
    device_ids
        Accepted.

    Returns
    -------
    Work or None
    """
    found = resolve("barrier", group)
    if found is None:
        return None
    return _run(found, "barrier", "", _transfers.barrier(found.wires), [], None, async_op)


def split_counts(name: str, what: str, tensor: Tensor, sizes: Sequence[int] | None, ranks: int) -> list[int]:
    """Return how many elements go to, or come from, each rank."""
    length = tensor.shape[0] if tensor.ndim else 0
    if not tensor.ndim:
        raise ValueError(f"[{name}] {what} needs a dimension to be cut along, but has none")
    if sizes is None or len(sizes) == 0:
        if length % ranks:
            raise ValueError(f"[{name}] {what} of length {length} cannot be cut into {ranks} equal parts; give sizes")
        sizes = [length // ranks] * ranks
    if len(sizes) != ranks or sum(sizes) != length or min(sizes) < 0:
        raise ValueError(
            f"[{name}] sizes of {what} must be {ranks} numbers that add up to its length {length}, got {list(sizes)}"
        )
    row = tensor.numel() // length if length else 0
    return [size * row for size in sizes]


def _check_block(name: str, block: Tensor, part: Tensor, ranks: int) -> None:
    if block.dtype != part.dtype or block.numel() != ranks * part.numel():
        raise ValueError(
            f"[{name}] one tensor must have {ranks} times the elements of the other, of one dtype, got "
            f"{tuple(block.shape)} {block.dtype} and {tuple(part.shape)} {part.dtype}"
        )


def _list_at_root(name: str, what: str, tensors: Any, group: ProcessGroup, root: int) -> list[Tensor]:
    if group.rank() == root:
        if not tensors:
            raise ValueError(f"[{name}] Argument `{what}` must be specified on the root rank, {group.ranks[root]}")
        return check_tensors(name, what, tensors, group.size())
    if tensors:
        raise ValueError(f"[{name}] Argument `{what}` must NOT be specified on non-root ranks, as this one is")
    return []


def _distribute(block: Any, outputs: Sequence[Tensor]) -> None:
    with wg.no_grad():
        for part, output in zip(block, outputs, strict=True):
            output.copy_(part.view(output.shape))
