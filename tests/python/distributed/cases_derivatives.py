"""Differentiable communication in both modes. The reference is the same function of all ranks' numbers, in NumPy.

What the ranks compute together is the sum of the losses of all; `numbers` gives those of any rank to every one.
"""

import numpy as np
import pytest

import wengert as wg
import wengert.distributed as dist
import wengert.distributed.nn.functional as communicate
from wengert.autograd import forward_ad
from wengert.distributed import ReduceOp

SHAPE = (12, 2)  # can be cut into 2, 3 or 4 equal parts


def numbers(rank, seed=0, shape=SHAPE):
    return np.random.default_rng([rank, seed]).standard_normal(shape)


def linear_maps(rank, size):
    """name -> (the map as ranks call it, the same in NumPy: the rows of all ranks to the rows of all ranks)."""

    def numpy_all_to_all(rows):
        parts = [np.split(row, size) for row in rows]
        return [np.concatenate([parts[r][at] for r in range(size)]) for at in range(size)]

    def at(root, row):
        """A row on one rank, and zeros on the others."""
        return [row if r == root else np.zeros_like(row) for r in range(size)]

    return {
        "all_reduce": (communicate.all_reduce, lambda rows: [sum(rows)] * size),
        "average": (lambda x: communicate.all_reduce(x, ReduceOp.AVG), lambda rows: [sum(rows) / size] * size),
        "broadcast": (lambda x: communicate.broadcast(x, size - 1), lambda rows: [rows[-1]] * size),
        "reduce": (lambda x: communicate.reduce(x, 1), lambda rows: at(1, sum(rows))),
        "all_gather": (lambda x: wg.stack(communicate.all_gather(x)), lambda rows: [np.stack(rows)] * size),
        "gather": (lambda x: wg.stack(communicate.gather(x, 1)), lambda rows: at(1, np.stack(rows))),
        "scatter": (
            lambda x: communicate.scatter([k * x for k in range(size)], 1),
            lambda rows: [r * rows[1] for r in range(size)],
        ),
        "reduce_scatter": (
            lambda x: communicate.reduce_scatter(None, [(k + 1) * x for k in range(size)]),
            lambda rows: [(r + 1) * sum(rows) for r in range(size)],
        ),
        "all_to_all_single": (lambda x: communicate.all_to_all_single(None, x), numpy_all_to_all),
        "all_to_all": (
            lambda x: wg.cat(communicate.all_to_all(None, list(x.chunk(size)))), numpy_all_to_all,
        ),
    }  # fmt: skip


def inner(a, b):
    return sum(float((x * y).sum()) for x, y in zip(a, b, strict=True))


def of_all(x):
    rows = [wg.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(rows, x.detach().contiguous())
    return [row.numpy() for row in rows]


def case_both_modes_of_linear_maps(rank, size):
    xs, ts = [numbers(r) for r in range(size)], [numbers(r, 1) for r in range(size)]
    for name, (function, reference) in linear_maps(rank, size).items():
        x = wg.tensor(xs[rank], requires_grad=True)
        y = function(x)
        assert np.allclose(y.detach().numpy(), reference(xs)[rank], atol=1e-14), name
        weights = [numbers(r, 2, y.shape) for r in range(size)]
        (grad,) = wg.autograd.grad(y, x, wg.tensor(weights[rank]))
        # the adjoint: <w, L t> over all ranks is <L* w, t>
        assert np.isclose(inner(weights, reference(ts)), inner(of_all(grad), ts)), name
        with forward_ad.dual_level():
            dual = function(forward_ad.make_dual(wg.tensor(xs[rank]), wg.tensor(ts[rank])))
            value, tangent = forward_ad.unpack_dual(dual)
            assert np.allclose(value.numpy(), reference(xs)[rank], atol=1e-14), name
            assert tangent is not None, name
            assert np.allclose(tangent.numpy(), reference(ts)[rank], atol=1e-14), name


def case_where_one_rank_alone_asks(rank, size):
    """The others take part: they record, and their tangent is zero."""
    x = wg.full((2,), rank + 1.0, requires_grad=rank == 1)
    y = communicate.all_reduce(x)
    assert y.requires_grad
    ((rank + 1) * y).sum().backward()
    assert (x.grad is None) if rank != 1 else x.grad.tolist() == [size * (size + 1) / 2] * 2
    with forward_ad.dual_level():
        x = wg.ones(2)
        if rank == 1:
            x = forward_ad.make_dual(x, wg.tensor([1.0, 5.0]))
        assert forward_ad.unpack_dual(communicate.all_reduce(x)).tangent.tolist() == [1.0, 5.0]
    assert not communicate.all_reduce(wg.ones(2)).requires_grad


def case_higher_orders(rank, size):
    rows = [numbers(r) for r in range(size)]
    y = sum(rows)
    x = wg.tensor(rows[rank], requires_grad=True)
    loss = (communicate.all_reduce(x) ** 3).sum()
    (first,) = wg.autograd.grad(loss, x, create_graph=True)  # of the sum of all losses, size * sum y**3
    assert np.allclose(first.detach().numpy(), 3 * size * y**2)
    weight = numbers(0, 7)
    (second,) = wg.autograd.grad((wg.tensor(weight) * first).sum(), x, create_graph=True)  # again the sum over ranks
    assert np.allclose(second.detach().numpy(), 6 * size**2 * weight * y)
    # forward over reverse, with another direction on each rank
    ts = [numbers(r, 1) for r in range(size)]
    with forward_ad.dual_level():
        x = forward_ad.make_dual(wg.tensor(rows[rank], requires_grad=True), wg.tensor(ts[rank]))
        (grad,) = wg.autograd.grad((communicate.all_reduce(x) ** 3).sum(), x, create_graph=True)
        assert np.allclose(forward_ad.unpack_dual(grad).tangent.detach().numpy(), 6 * size * y * sum(ts))


def case_transforms(rank, size):
    rows = [numbers(r, 0, (3,)) for r in range(size)]
    x, y = wg.tensor(rows[rank]), sum(rows)

    def f(x):
        return (communicate.all_reduce(x) ** 2).sum()

    assert np.allclose(wg.func.grad(f)(x).numpy(), 2 * size * y)
    assert wg.func.grad(f)(x).grad_fn is None
    value, tangent = wg.func.jvp(f, (x,), (wg.ones_like(x),))
    assert np.isclose(value.item(), (y**2).sum())
    assert np.isclose(tangent.item(), 2 * size * y.sum())
    assert np.allclose(wg.func.jacrev(communicate.all_reduce)(x).numpy(), size * np.eye(3))
    assert np.allclose(wg.func.jacfwd(communicate.all_reduce)(x).numpy(), size * np.eye(3))
    inner_jvp = lambda x: wg.func.jvp(lambda z: communicate.all_reduce(z**3), (x,), (x,))[1]  # noqa: E731
    outer = wg.func.jvp(inner_jvp, (x,), (wg.ones_like(x),))[1]
    assert np.allclose(outer.numpy(), 9 * sum(row**2 for row in rows))


def case_vmap(rank, size):
    batch = [numbers(r, 3, (5, 4)) for r in range(size)]
    for in_dim in (0, 1):
        x = wg.tensor(batch[rank] if in_dim == 0 else batch[rank].T.copy())
        y = wg.vmap(lambda row: communicate.all_reduce(row * 2), in_dims=in_dim)(x)
        assert np.allclose(y.numpy(), 2 * sum(batch))
        z = wg.vmap(lambda row: wg.stack(communicate.all_gather(row)), in_dims=in_dim)(x)
        assert np.allclose(z.numpy(), np.stack(batch, 1))
        grads = wg.vmap(wg.func.grad(lambda row: (communicate.all_reduce(row) ** 2).sum()), in_dims=in_dim)(x)
        assert np.allclose(grads.numpy(), 2 * size * sum(batch))


def case_reductions_that_are_not_linear(rank, size):
    rows = [numbers(r) for r in range(size)]
    stacked = np.stack(rows)
    x = wg.tensor(rows[rank], requires_grad=True)
    for op, value, partial in [
        (ReduceOp.MAX, stacked.max(0), rows[rank] == stacked.max(0)),
        (ReduceOp.MIN, stacked.min(0), rows[rank] == stacked.min(0)),
        (ReduceOp.PRODUCT, stacked.prod(0), np.delete(stacked, rank, 0).prod(0)),
    ]:
        y = communicate.all_reduce(x, op)
        assert np.allclose(y.detach().numpy(), value)
        (grad,) = wg.autograd.grad(y.sum(), x)
        assert np.allclose(grad.numpy(), size * partial)  # every rank has a loss
        y = communicate.reduce(x, 0, op)
        (grad,) = wg.autograd.grad(y.sum(), x)
        assert np.allclose(grad.numpy(), partial)
    tied = wg.ones(2, requires_grad=True)
    communicate.all_reduce(tied, ReduceOp.MAX).sum().backward()
    assert tied.grad.tolist() == [1, 1]  # a share of 1/size in the loss of each
    y = communicate.reduce_scatter(None, [(k + 1) * x for k in range(size)], ReduceOp.MAX)
    assert np.allclose(y.detach().numpy(), (rank + 1) * stacked.max(0))
    assert communicate.all_reduce(wg.tensor([6, 3]), ReduceOp.BAND).tolist() == [6, 3]


def case_complex(rank, size):
    z = wg.tensor(numbers(rank) + 1j * numbers(rank, 1), requires_grad=True)
    (communicate.all_reduce(z).abs() ** 2).sum().backward()
    total = sum(numbers(r) + 1j * numbers(r, 1) for r in range(size))
    assert np.allclose(z.grad.numpy(), 2 * size * total)


def case_messages(rank, size):
    """Rank 0 computes x**2, sends it on; each multiplies by its number and adds; the last one has the loss."""
    x = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64, requires_grad=rank == 0)
    like = wg.empty(3, dtype=wg.float64)
    y = x**2 if rank == 0 else (rank + 1) * communicate.recv(like, rank - 1)
    out = communicate.send(y, rank + 1) if rank < size - 1 else y.sum()
    assert out.requires_grad
    out.backward()
    if rank == 0:
        assert np.allclose(x.grad.numpy(), 2 * np.arange(1.0, 4.0) * np.prod(np.arange(2, size + 1)))
    with forward_ad.dual_level():
        if rank == 0:
            communicate.send(forward_ad.make_dual(wg.ones(2), wg.tensor([3.0, 4.0])), 1)
        if rank == 1:
            value, tangent = forward_ad.unpack_dual(communicate.recv(wg.empty(2), 0))
            assert value.tolist() == [1, 1]
            assert tangent.tolist() == [3, 4]


def case_exchanged_messages(rank, size):
    """Two ranks send to each other before either receives; both passes wait for each other's gradients."""
    if rank > 1:
        return
    x = wg.full((100_000,), rank + 2.0, requires_grad=True)
    token = communicate.send(x * x, 1 - rank)
    other = communicate.recv(wg.empty(100_000), 1 - rank)
    ((rank + 1) * other.sum() + token).backward()
    assert (x.grad == 2 * (rank + 2.0) * (2 - rank)).all()


def case_passes_of_several_threads(rank, size):
    """Independent branches would run in any order on the engine's threads; ranks communicate in one."""
    threads = wg.get_num_threads()
    wg.set_num_threads(2)
    generator = np.random.default_rng(rank)
    x = wg.tensor(generator.standard_normal((120, 120)) / 120, requires_grad=True)
    for _ in range(3):
        branches = []
        for branch in range(6):
            y = communicate.all_reduce((x @ x).tanh())
            for _ in range(branch % 3):
                y = (y @ x).tanh()
            branches.append(y.sum())
        sum(branches).backward()
    wg.set_num_threads(threads)


def case_like_collectives_in_another_order_are_told_apart(rank, size):
    """Which of two all-reduces of one shape a backward pass reaches first must be the same on all ranks."""
    x = wg.ones(2, requires_grad=True)
    first, second = communicate.all_reduce(x), communicate.all_reduce(2 * x)
    own, other = (first, second) if rank else (second, first)
    with pytest.raises(dist.DistError, match=r"all_reduce \(root 0\) for call \d+ of float32\[2\]"):
        own.sum().backward()
    assert other.requires_grad


def case_errors_are_on_all_ranks(rank, size):
    with pytest.raises(dist.DistError, match=r"all_gather .*of float32\[2\]"):
        communicate.all_gather(wg.ones(2 if rank else 3))
    with pytest.raises(dist.DistError, match="mismatch"):
        communicate.all_reduce(wg.ones(2)) if rank else communicate.broadcast(wg.ones(2), 0)
    x = wg.ones(2, requires_grad=True)
    with (
        pytest.raises(dist.DistError, match=r"recorded on some ranks, but not on \[0\]"),
        wg.set_grad_enabled(rank > 0),
    ):
        communicate.all_reduce(x)
    with wg.no_grad():
        assert not communicate.all_reduce(x).requires_grad
    if rank == 0:
        communicate.send(wg.ones(2), 1)
    if rank == 1:
        with pytest.raises(dist.DistError, match="sends something else than"):
            communicate.recv(wg.ones(3), 0)
        dist.recv(wg.ones(2), 0)  # what was left
