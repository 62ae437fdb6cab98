"""Collectives that write into tensors, against NumPy."""

from datetime import timedelta

import numpy as np
import pytest

import wengert as wg
import wengert.distributed as dist
from wengert.distributed import ReduceOp

DTYPES = [
    wg.float16, wg.bfloat16, wg.float32, wg.float64, wg.complex64, wg.complex128,
    wg.int8, wg.uint8, wg.int16, wg.int32, wg.int64, wg.bool,
]  # fmt: skip
SIZES = [(), (0,), (1,), (7,), (3, 5), (40_001,)]


def numbers(rank, shape=(7,), dtype=np.float64):
    """Different on each rank, and known to all."""
    return np.random.default_rng(rank).standard_normal(shape).astype(dtype)


def in_order(rows, function):
    total = rows[0].copy()
    for row in rows[1:]:
        total = function(total, row)
    return total


def case_every_dtype_is_summed(rank, size):
    for dtype in DTYPES:
        for shape in SIZES:
            x = wg.ones(shape).to(dtype)
            dist.all_reduce(x)
            expected = True if dtype is wg.bool else size
            assert x.dtype == dtype
            assert bool((x == expected).all()), (dtype, shape, x)


def case_sums_go_in_the_order_of_ranks(rank, size):
    for length in (5, 100_000):  # by one message, and in parts
        for dtype in (np.float32, np.float64, np.complex128):
            rows = [1e3 ** (r % 3) * numbers(r, (length,), dtype) for r in range(size)]
            rows = [row.astype(dtype) for row in rows]
            x = wg.from_numpy(rows[rank].copy())
            dist.all_reduce(x)
            assert x.numpy().tobytes() == in_order(rows, np.add).tobytes()


def case_short_floats_are_rounded_once(rank, size):
    rows = [np.float32(1 + numbers(r, (50_000,)) ** 2) for r in range(size)]
    for dtype in (wg.float16, wg.bfloat16):
        given = [wg.from_numpy(row).to(dtype) for row in rows]
        x = given[rank].clone()
        dist.all_reduce(x)
        exact = in_order([g.float().numpy() for g in given], np.add)
        assert (x == wg.from_numpy(exact).to(dtype)).all()


def case_reductions(rank, size):
    rows = [numbers(r) for r in range(size)]
    for op, function in [
        (ReduceOp.PRODUCT, np.multiply), (ReduceOp.MIN, np.minimum), (ReduceOp.MAX, np.maximum), (ReduceOp.SUM, np.add),
    ]:  # fmt: skip
        x = wg.from_numpy(rows[rank].copy())
        dist.all_reduce(x, op)
        assert np.array_equal(x.numpy(), in_order(rows, function))
    x = wg.from_numpy(rows[rank].copy())
    dist.all_reduce(x, op=ReduceOp.AVG)
    assert np.array_equal(x.numpy(), in_order(rows, np.add) / size)
    whole = [np.random.default_rng(r).integers(0, 255, 9) for r in range(size)]
    for op, function in [
        (ReduceOp.BAND, np.bitwise_and), (ReduceOp.BOR, np.bitwise_or), (ReduceOp.BXOR, np.bitwise_xor),
    ]:  # fmt: skip
        x = wg.from_numpy(whole[rank].copy())
        dist.all_reduce(x, op)
        assert np.array_equal(x.numpy(), in_order(whole, function))


def case_reduce_to_one_rank(rank, size):
    for length in (4, 60_000):
        rows = [numbers(r, (length,)) for r in range(size)]
        x = wg.from_numpy(rows[rank].copy())
        dist.reduce(x, dst=size - 1)
        assert np.array_equal(x.numpy(), in_order(rows, np.add) if rank == size - 1 else rows[rank])


def case_mpi_reduces_where_order_is_free(rank, size):
    group = dist.new_group(deterministic=False)
    for dtype in (np.float32, np.int64, np.complex64):
        rows = [(8 * numbers(r, (1000,))).round().astype(dtype) for r in range(size)]  # sums are exact
        x = wg.from_numpy(rows[rank].copy())
        dist.all_reduce(x, group=group)
        assert np.array_equal(x.numpy(), sum(rows))
        x = wg.from_numpy(rows[rank].copy())
        dist.reduce(x, 0, group=group)
        assert np.array_equal(x.numpy(), sum(rows)) == (rank == 0)
    out = wg.empty(2)
    dist.reduce_scatter_tensor(out, wg.arange(2.0 * size), group=group)
    assert out.tolist() == [2.0 * rank * size, (2.0 * rank + 1) * size]
    half = wg.ones(3, dtype=wg.bfloat16)  # unknown to MPI
    dist.all_reduce(half, group=group)
    assert half.tolist() == [size] * 3


def case_gathering_and_scattering(rank, size):
    for shape in SIZES:
        rows = [numbers(r, shape) for r in range(size)]
        own = wg.tensor(rows[rank])
        out = [wg.empty(shape, dtype=wg.float64) for _ in rows]
        dist.all_gather(out, own)
        assert all(np.array_equal(o.numpy(), row) for o, row in zip(out, rows, strict=True))
        block = wg.empty((size, *shape), dtype=wg.float64)
        dist.all_gather_into_tensor(block, own)
        assert np.array_equal(block.numpy(), np.stack(rows))
        out = [wg.empty(shape, dtype=wg.float64) for _ in rows] if rank == 1 else None
        dist.gather(own, out, dst=1)
        assert out is None or np.array_equal(np.stack([o.numpy() for o in out]), np.stack(rows))
        taken = wg.empty(shape, dtype=wg.float64)
        dist.scatter(taken, [wg.tensor(row) for row in rows] if rank == 0 else None, src=0)
        assert np.array_equal(taken.numpy(), rows[rank])
        dist.broadcast(taken, src=1)
        assert np.array_equal(taken.numpy(), rows[1])


def case_reduce_scatter(rank, size):
    given = [[numbers(10 * r + part, (3, 2)) for part in range(size)] for r in range(size)]
    expected = in_order([row[rank] for row in given], np.add)
    out = wg.empty(3, 2, dtype=wg.float64)
    dist.reduce_scatter(out, [wg.tensor(part) for part in given[rank]])
    assert np.array_equal(out.numpy(), expected)
    dist.reduce_scatter_tensor(out.zero_(), wg.tensor(np.concatenate(given[rank])))
    assert np.array_equal(out.numpy(), expected)


def case_all_to_all(rank, size):
    lengths = [[(r + 2 * part) % 3 for part in range(size)] for r in range(size)]
    parts = [[numbers(10 * r + part, (lengths[r][part], 2)) for part in range(size)] for r in range(size)]
    received = [lengths[r][rank] for r in range(size)]
    out = wg.empty(sum(received), 2, dtype=wg.float64)
    dist.all_to_all_single(out, wg.tensor(np.concatenate(parts[rank])), received, lengths[rank])
    assert np.array_equal(out.numpy(), np.concatenate([parts[r][rank] for r in range(size)]))
    outs = [wg.empty(length, 2, dtype=wg.float64) for length in received]
    dist.all_to_all(outs, [wg.tensor(part) for part in parts[rank]])
    assert all(np.array_equal(o.numpy(), parts[r][rank]) for r, o in enumerate(outs))
    even = wg.empty(size, dtype=wg.int64)
    dist.all_to_all_single(even, wg.arange(size) + 10 * rank)
    assert even.tolist() == [10 * r + rank for r in range(size)]


def case_tensors_that_are_not_contiguous(rank, size):
    x = wg.arange(12.0).reshape(3, 4).t()
    before = x._version
    dist.all_reduce(x)
    assert np.array_equal(x.numpy(), size * np.arange(12.0).reshape(3, 4).T)
    assert x._version > before
    flipped = wg.zeros(2, 6)[:, ::2]
    dist.broadcast(flipped if rank else flipped.fill_(3), src=0)
    assert (flipped == 3).all()
    z = wg.full((2,), 1j).conj()
    dist.all_reduce(z)
    assert z.tolist() == [-1j * size] * 2


def case_writes_are_seen_by_autograd(rank, size):
    x = wg.ones(2, requires_grad=True)
    y = x * 1
    z = y * y
    dist.all_reduce(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    assert y.grad_fn is not None
    leaf = wg.full((2,), 2.0, requires_grad=True)
    dist.all_reduce(leaf)
    assert leaf.is_leaf
    assert leaf.tolist() == [2.0 * size] * 2


def case_several_at_once(rank, size):
    tensors = [wg.full((1 + 5000 * k,), float(rank)) for k in range(8)]
    works = [dist.all_reduce(x, async_op=True) for x in tensors]
    assert all(work.wait() for work in reversed(works))
    assert all(work.is_completed() and work.is_success() and work.exception() is None for work in works)
    assert works[0].result()[0] is tensors[0]
    assert all((x == size * (size - 1) / 2).all() for x in tensors)


def case_groups(rank, size):
    group = dist.new_group([size - 1, 0])
    rest = dist.new_group(list(range(1, size - 1))) if size > 2 else None
    assert dist.get_rank(group) == {0: 0, size - 1: 1}.get(rank, -1)
    if rank in (0, size - 1):
        assert dist.get_world_size(group) == 2
        assert dist.get_process_group_ranks(group) == [0, size - 1]
        assert dist.get_global_rank(group, 1) == size - 1
        assert dist.get_group_rank(group, size - 1) == 1
        x = wg.full((2,), float(rank))
        dist.broadcast(x, src=size - 1, group=group)
        assert x.tolist() == [size - 1] * 2
        dist.broadcast(x.fill_(rank), group_src=0, group=group)
        assert x.tolist() == [0, 0]
        with pytest.raises(ValueError, match="is not part of group"):
            dist.broadcast(x, src=1 if size > 2 else 5, group=group)
    else:
        with pytest.warns(UserWarning, match="does not belong to the given group"):
            assert dist.all_reduce(wg.ones(1), group=group) is None
        x = wg.ones(1)
        dist.all_reduce(x, group=rest)
        assert x.item() == size - 2
    own, every = dist.new_subgroups(size // 2)
    assert dist.get_world_size(own) == size // 2
    assert every[rank // (size // 2)] is own


def case_arguments_are_checked(rank, size):
    x = wg.ones(2)
    for call, kind, message in [
        (lambda: dist.all_reduce([x]), TypeError, "Expected parameter `tensor` of type Tensor"),
        (lambda: dist.all_reduce(x, "sum"), TypeError, "op must be a ReduceOp"),
        (lambda: dist.all_reduce(x, ReduceOp.BAND), RuntimeError, "non-integral"),
        (lambda: dist.all_reduce(wg.ones(1, dtype=wg.int64), ReduceOp.AVG), RuntimeError, "AVG"),
        (lambda: dist.all_reduce(x.to(wg.complex64), ReduceOp.MAX), RuntimeError, "no order"),
        (lambda: dist.all_reduce(x.to("meta")), RuntimeError, "meta"),
        (lambda: dist.all_reduce(x, group=3), TypeError, "ProcessGroup"),
        (lambda: dist.all_gather([x], x), ValueError, "one tensor for each"),
        (lambda: dist.all_gather([wg.ones(3)] * size, x), ValueError, "one shape and dtype"),
        (lambda: dist.all_gather(x, x), TypeError, r"List\[Tensor\]"),
        (lambda: dist.all_gather_into_tensor(x, x), ValueError, "times the elements"),
        (lambda: dist.gather(x, None, dst=rank), ValueError, "must be specified on the root"),
        (lambda: dist.gather(x, [x] * size, dst=(rank + 1) % size), ValueError, "must NOT be specified"),
        (lambda: dist.broadcast(x, src=size), ValueError, "not part of group"),
        (lambda: dist.broadcast(x, src=0, group_src=0), ValueError, "both"),
        (lambda: dist.all_to_all_single(x, wg.ones(size + 1)), ValueError, "equal parts"),
        (lambda: dist.all_to_all_single(x, x, input_split_sizes=[1] * (size + 1)), ValueError, "add up"),
        (lambda: dist.new_group([0, 0]), ValueError, "different"),
        (lambda: dist.init_process_group("mpi"), ValueError, "twice"),
        (lambda: dist.set_debug_level(2), TypeError, "DebugLevel"),
    ]:
        with pytest.raises(kind, match=message):
            call()


def case_different_calls_are_told_apart(rank, size):
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    try:
        x = wg.ones(3)
        dist.all_reduce(x)
        with pytest.raises(
            dist.DistError, match=r"(?s)rank 0: .*barrier\(\).*rank 1: .*all_reduce\(float32\[3\], SUM\)"
        ):
            dist.barrier() if rank == 0 else dist.all_reduce(x)
        with pytest.raises(dist.DistError, match=r"float32\[2\]"):
            dist.all_reduce(wg.ones(2 + rank))
        dist.all_reduce(x)  # and it goes on
        assert x.tolist() == [size**2] * 3
    finally:
        dist.set_debug_level(dist.DebugLevel.OFF)


def case_waiting_has_an_end(rank, size):
    if rank == 0:
        late = dist.irecv(wg.empty(1), src=1, tag=99)
        with pytest.raises(dist.DistBackendError, match=r"not finished after 0:00:00\.1"):
            late.wait(timedelta(seconds=0.1))
        dist.barrier()
        assert late.wait()
    else:
        dist.barrier()
        if rank == 1:
            dist.send(wg.ones(1), 0, tag=99)


def case_queries(rank, size):
    assert dist.is_available()
    assert dist.is_mpi_available()
    assert dist.is_initialized()
    assert dist.get_backend() == "mpi"
    assert dist.group.WORLD.size() == size
    assert dist.group.WORLD.rank() == rank
    assert dist.group.WORLD.deterministic
    assert f"rank {rank} of {size}" in repr(dist.group.WORLD)
    work = dist.barrier(async_op=True)
    work.synchronize()
    assert "done" in repr(work)
    with pytest.raises(RuntimeError, match="has been received"):
        work.source_rank()
