"""Writes, views and shared memory, as people asked for them of other systems."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import time

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import grad


def f64(value, **options):
    return wg.tensor(value, dtype=wg.float64, **options)


@pytest.mark.parametrize("parts", [lambda t: t.unbind(0), lambda t: t.split(1), lambda t: t.chunk(3)])
@pytest.mark.parametrize("through_view", [False, True])
def test_V1_writing_through_one_of_several_views(parts, through_view):
    x = f64([1.0, 2.0, 3.0], requires_grad=True)
    part = parts(x * 1)[0]
    with pytest.raises(RuntimeError, match="returns multiple views"):
        (part.view_as(part) if through_view else part).mul_(2)


def test_V2_view_of_a_view_after_its_base_changed():
    x, seen = f64([1.0, 2.0, 3.0], requires_grad=True), []
    base = x * 1
    middle = base[:2]
    last = middle[:1]
    base.mul_(3)
    assert middle.grad_fn is not None
    middle.retain_grad()
    middle.register_hook(lambda g: seen.append(g.tolist()))
    (middle * f64([5.0, 7.0])).sum().backward()
    assert seen == [[5, 7]]
    assert middle.grad.tolist() == [5, 7]
    assert x.grad.tolist() == [15, 21, 0]
    np.testing.assert_array_equal(grad((last * 2).sum(), x)[0].numpy(), [6, 0, 0])


@pytest.mark.parametrize("through_data", [False, True])
def test_V3_an_array_that_was_written_between_forward_and_backward(through_data):
    array = np.array([1.0, 2.0])
    x = wg.from_numpy(array).requires_grad_()
    y = (x * x).sum()
    if through_data:
        x.data[0] = 5
    else:
        array[0] = 5
    with pytest.raises(RuntimeError, match=r"modified|written|changed"):
        y.backward()


def test_V4_saving_one_part_and_writing_another():
    x = f64([1.0, 2.0, 3.0, 4.0], requires_grad=True) * 1
    y = (x[:2] ** 2).sum()
    x[2:] = 0
    y.backward()


def test_V5_two_gradients_of_a_sum_do_not_share_memory():
    a, b = f64([1.0, 2.0], requires_grad=True), f64([3.0, 4.0], requires_grad=True)
    (a + b).backward(wg.ones(2, dtype=wg.float64))
    a.grad.mul_(0)
    assert b.grad.tolist() == [1, 1]


def test_V6_only_the_write_that_survives_has_a_gradient():
    values = f64([5.0, 7.0], requires_grad=True)
    out = wg.zeros(3, dtype=wg.float64).index_put((wg.tensor([1, 1]),), values)
    assert out.tolist() == [0, 7, 0]
    assert grad(out.sum(), values)[0].tolist() == [0, 1]


def test_V7_repeated_reads_accumulate():
    x = f64([1.0, 2.0], requires_grad=True)
    index = wg.tensor([0, 0, 1])
    assert grad(x[index].sum(), x)[0].tolist() == [2, 1]
    assert grad(x.gather(0, index).sum(), x)[0].tolist() == [2, 1]
    assert grad(x.take(index).sum(), x)[0].tolist() == [2, 1]


def test_V9_writing_elements_in_a_loop_is_linear():
    def cost(n):
        x, out = wg.ones(n, dtype=wg.float64, requires_grad=True), wg.zeros(n, dtype=wg.float64)
        begin = time.process_time()
        for i in range(n):
            out[i] = x[i] * x[i]
        out.sum().backward()
        elapsed = time.process_time() - begin
        assert x.grad.tolist() == [2] * n
        return elapsed

    cost(100)
    assert min(cost(4000) for _ in range(3)) < 30 * min(cost(500) for _ in range(3))


def test_V10_a_complex_factor_in_place():
    x = f64([1.0, 2.0])
    with pytest.raises(RuntimeError, match="can't be cast"):
        x *= 1j
