"""Writes of samples into memory that the function under `vmap` made itself; references are loops over the samples."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.func import grad, hessian, jacfwd, jvp, vmap

d = wg.float64
batch = wg.tensor([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]], dtype=d)


def slice_of(x):
    o = wg.zeros(4, dtype=d)
    o[:2] = x
    return o


def elements(x):
    o = wg.zeros(2, 2, dtype=d)
    for i in range(2):
        for j in range(2):
            o[i, j] = x[i] * x[j]
    return o


def added_to_an_element(x):
    o = wg.zeros(4, dtype=d)
    o[1] += x.sum()
    o[2] = 5
    return o


def whole(x):
    o = wg.empty(2, dtype=d)
    o.copy_(x)
    o.mul_(x)
    return o


def through_a_view(x):
    o = wg.zeros(4, dtype=d)
    v = o[:2]
    v.add_(x)
    v *= 2
    return o + 0


def of_numpy(x):
    o = np.zeros_like(x)
    o[:1] = x[1:]
    return o


def of_numpy_and_constant(x):
    o = np.zeros_like(wg.ones(3, dtype=d))
    o[:2] = x
    return o


def computed(x):
    o = wg.ones(4, dtype=d) * 3
    o.fill_(x[0])
    return o


def transposed(x):
    o = wg.zeros(2, 2, dtype=d).t()
    o[0] = x
    return o


WRITES = [
    slice_of,
    elements,
    added_to_an_element,
    whole,
    through_a_view,
    of_numpy,
    of_numpy_and_constant,
    computed,
    transposed,
    lambda x: wg.zeros(4, dtype=d).scatter_(0, wg.tensor([1, 3]), x),
    lambda x: wg.zeros(4, dtype=d).index_add_(0, wg.tensor([1, 1]), x),
    lambda x: wg.zeros(2, dtype=d).masked_fill_(x > 1.5, 7.0),
    lambda x: wg.zeros(4, dtype=d).index_put_((wg.tensor([0, 3]),), x),
]


@pytest.mark.parametrize("write", WRITES)
def test_memory_of_the_function_becomes_a_batch(write):
    wanted = wg.stack([write(x) for x in batch])
    wg.testing.assert_close(vmap(write)(batch), wanted)
    wg.testing.assert_close(vmap(write, in_dims=1)(batch.t()), wanted)
    if write is transposed:
        return  # in two levels too many tensors are on its memory
    wg.testing.assert_close(vmap(vmap(write))(wg.stack([batch, batch + 1]))[0], wanted)
    twice = vmap(lambda x: vmap(lambda y: write(x * y))(batch))(batch)
    wg.testing.assert_close(twice, wg.stack([wg.stack([write(x * y) for y in batch]) for x in batch]))


def test_derivatives_of_such_writes():
    x = batch[0]
    close = wg.testing.assert_close
    wanted = 4 * batch * (batch**2).sum(1, keepdim=True)  # of the squared sum of squares
    loss = lambda x: (elements(x) ** 2).sum()  # noqa: E731
    close(vmap(grad(loss))(batch), wanted)
    close(grad(lambda batch: vmap(loss)(batch).sum())(batch), wanted)
    close(hessian(loss)(x), 4 * (x @ x) * wg.eye(2, dtype=d) + 8 * x[:, None] * x)
    outer = wg.stack([wg.stack([wg.tensor([[2 * x[0], 0.0], [x[1], x[0]]], dtype=d)[0], wg.stack([x[1], x[0]])]),
                      wg.stack([wg.stack([x[1], x[0]]), wg.stack([0 * x[0], 2 * x[1]])])])  # fmt: skip
    close(jacfwd(elements)(x), outer)
    close(vmap(jacfwd(elements))(batch)[0], outer)
    close(vmap(lambda x: jvp(through_a_view, (x,), (x,))[1])(batch), vmap(through_a_view)(batch))
    p = wg.ones(2, dtype=d, requires_grad=True)

    def with_parameter(x):
        o = p * 1
        o[0] = x[0]
        return (o * p).sum()

    (slope,) = wg.autograd.grad(vmap(with_parameter)(batch).sum(), p)
    close(slope, wg.stack([batch[:, 0].sum(), 6 * p.detach()[1]]))


def test_memory_from_outside_is_no_batch():
    outside = wg.zeros(2, dtype=d)
    earlier = []
    vmap(lambda x: earlier.append(wg.zeros(2, dtype=d)) or x)(batch)

    def write(x, memory):
        memory[:] = x
        return memory

    def inside(x):
        memory = wg.zeros(2, dtype=d)
        return vmap(lambda y: write(y, memory))(batch)

    for memory in (outside, earlier[0], wg.tensor(np.zeros(2)), wg.from_numpy(np.zeros(2))):
        with pytest.raises(RuntimeError, match="inplace arithmetic"):
            vmap(lambda x, memory=memory: write(x, memory))(batch)
        assert type(memory) is wg.Tensor
        assert memory.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(inside)(batch)


def test_other_views_never_miss_the_batch():
    def read_another_view(x):
        o = wg.zeros(4, dtype=d)
        other = o[1:]
        o[:2] = x
        return other

    def is_leaf(x):
        o = wg.zeros(2, dtype=d, requires_grad=True)
        o[:] = x
        return o

    for write in (read_another_view, is_leaf):
        with pytest.raises(RuntimeError, match="inplace arithmetic"):
            vmap(write)(batch)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_unpool(n):
    pool = getattr(wg.nn.functional, f"max_pool{n}d")
    unpool = getattr(wg.nn.functional, f"max_unpool{n}d")
    x = wg.tensor(np.random.default_rng(0).normal(size=(3, 2, *(4,) * n)))
    values, indices = pool(x, 2, return_indices=True)
    wanted = wg.where(unpool(values, indices, 2) != 0, x, 0.0)
    wg.testing.assert_close(vmap(lambda v, i: unpool(v, i, 2))(values, indices), wanted)
    shared = vmap(lambda v: unpool(v, indices[0], 2))(wg.stack([values[0], 2 * values[0]]))
    wg.testing.assert_close(shared, wg.stack([wanted[0], 2 * wanted[0]]))
    wg.testing.assert_close(vmap(grad(lambda v, i: (unpool(v, i, 2) ** 2).sum()))(values, indices), 2 * values)
    with pytest.raises(RuntimeError, match="invalid max index"):
        vmap(lambda v, i: unpool(v, i, 2))(values, indices + 4**n)
