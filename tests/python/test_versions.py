"""Versions, regions and writes from outside: rows V1 to V3 and V18 of the table of features, and what is beyond it.

A tensor saved for backward conflicts only with writes that overlap it, whoever makes them.
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc

import numpy as np
import pytest

import wengert as wg

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)


def modified(match=""):
    return pytest.raises(RuntimeError, match=f"(?s){MODIFIED}.*{match}")


# --- The counter
def test_V1_who_shares_a_counter_and_what_bumps_it():
    t = wg.ones(3)
    view, detached, data = t[:2], t.detach(), t.data
    t.add_(1)
    view.mul_(2)
    detached[0] = 3
    assert t._version == view._version == detached._version == 3
    with wg.no_grad():
        t.zero_()
    wg.add(t, 1, out=t)
    t[wg.tensor([0, 1])] = 1.0
    t[wg.tensor([True, False, True])] = 1.0
    t += 1
    assert t._version == 8
    data.add_(1)
    assert (t._version, data._version) == (8, 1)
    integers = wg.tensor([1, 2])
    integers.add_(1).resize_(2)
    assert integers._version == 1
    integers.resize_(3)
    assert integers._version == 2


def test_V1_inference_tensors_have_none():
    with wg.inference_mode():
        t = wg.ones(2)
        t.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = t._version
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        t.add_(1)


def test_V2_message_names_tensor_maker_versions_and_culprit(x):
    y = x.exp()
    y.add_(1).mul_(2)
    with modified(
        r"\[wengert.FloatTensor \[4\]\], which is output 0 of Exp.*, is at version 2; expected version 0 instead.*"
        r"saved by ExpBackward0\. It was written by 'mul_'\."
    ):
        y.sum().backward()


def test_V2_debug_mode_tells_where_it_was_written(x):
    with wg.autograd.set_debug_mode(True):
        y = x.exp()
        y.add_(1)
        with modified(r"written by 'add_' at .*test_versions.py:\d+"):
            y.sum().backward()


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.add_(1),
        lambda y: y[1:].zero_(),
        lambda y: y.detach().mul_(2),
        lambda y: y.__setitem__(wg.tensor([2]), 1.0),
        lambda y: wg.add(y.detach(), 1, out=y.detach()),
        lambda y: wg.autograd.graph.increment_version(y),
        lambda y: y.view(2, 2).t()[0].fill_(3),
    ],
)
def test_V2_every_kind_of_write_is_noticed(x, write):
    y = x * 1
    z = y * y
    write(y)
    with modified():
        z.sum().backward()


def test_V3_what_formulas_do_not_need_may_be_written(x):
    w = wg.ones(4)
    for operation in (
        lambda y: y + w,
        lambda y: y * w,
        lambda y: y[0],
        lambda y: y.sum(),
        lambda y: -y,
        lambda y: y / w,
    ):
        y = x * 1
        result = operation(y)
        y.add_(1)
        result.sum().backward()


# --- Regions
def test_saved_views_conflict_only_with_writes_that_overlap(x):
    y = x * 1
    squared = y[:2] * y[:2]
    y[2:] = 0
    y[3].add_(1)
    (squared.sum() + y.sum()).backward()
    assert x.grad.tolist() == [3.0, 5.0, 0.0, 0.0]
    y = x * 1
    squared = y[:2] * y[:2]
    y[1:] = 0
    with modified("written by 'fill_'"):
        squared.sum().backward()


def test_columns_steps_and_blocks_are_told_apart():
    base = wg.arange(24.0).reshape(4, 6).requires_grad_()
    disjoint = [
        (np.s_[:, 0], np.s_[:, 1:]),
        (np.s_[::2], np.s_[1::2]),
        (np.s_[:, ::2], np.s_[:, 1::2]),
        (np.s_[1, 2], np.s_[:1]),
        (np.s_[:2, :3], np.s_[:, 3:]),
        (np.s_[2:, 1:2], np.s_[:2]),
    ]
    for saved, written in disjoint:
        for kept, changed in ((saved, written), (written, saved)):
            y = base * 1
            z = y[kept].exp().sum() + (y[kept] ** 2).sum()
            y[changed] = 7
            z.backward()
    y = base * 1
    z = (y[:, 1] ** 2).sum()
    y[2] = 7
    with modified():
        z.backward()


def test_a_loop_that_reads_what_it_wrote_just_before():
    n = 300
    w = wg.tensor(0.9, requires_grad=True)
    out = wg.zeros(n)
    out[0] = 1.0
    for i in range(1, n):
        out[i] = out[i - 1] * w * out[i - 1].detach()
    out.sum().backward()
    assert w.grad.isfinite()
    columns = wg.zeros(3, n)
    columns[:, 0] = w
    for i in range(1, n):
        columns[:, i] = columns[:, i - 1] * w
    w.grad = None
    columns.sum().backward()
    expected = 3 * sum((i + 1) * 0.9**i for i in range(n))
    wg.testing.assert_close(w.grad, wg.tensor(expected), rtol=1e-4, atol=0)


def test_saved_outputs_know_their_region(x):
    out = wg.zeros(4)
    out[:2] = x[:2]
    y = out[:2].exp_()
    out[2:] = 5
    y.sum().backward()
    wg.testing.assert_close(x.grad[:2], x.detach()[:2].exp())


def test_other_changes_than_writes_conflict_always(x):
    y = x * 1
    z = y * y
    y.detach().resize_(2, 2)
    with modified():
        z.sum().backward()
    z = x * x
    with wg.no_grad():
        x.set_(wg.ones(4))
    with modified("exchanged"):
        z.sum().backward()


# --- Writes that the counter does not see
def test_writes_through_data_are_noticed(x):
    z = x * x
    x.data.mul_(2)
    assert x._version == 0
    with modified(r"written by 'mul_', through \.data"):
        z.sum().backward()
    z = x[:2] * x[:2]
    x.data[2:] = 1
    z.sum().backward()
    z = x * x
    x.data = wg.ones(4)
    with modified("exchanged: by assigning to .data"):
        z.sum().backward()


def numpy_both_ways():
    mine = np.array([1.0, 2.0, 3.0, 4.0])
    theirs = wg.tensor([1.0, 2.0, 3.0, 4.0])
    yield wg.from_numpy(mine), mine
    yield theirs, theirs.numpy()
    yield theirs, np.asarray(theirs)
    yield theirs, np.from_dlpack(theirs)
    yield wg.from_dlpack(mine), mine
    yield theirs, memoryview(theirs).cast("B").cast("f")


@pytest.mark.parametrize("case", range(6))
def test_writes_from_outside_are_noticed(case):
    shared, array_ = list(numpy_both_ways())[case]
    w = wg.ones(4, dtype=shared.dtype, requires_grad=True)
    product = w * shared
    array_[0] = 9
    with modified("shared with an array or buffer outside of Wengert, and was written there"):
        product.sum().backward()
    product = w * shared
    product.sum().backward()
    assert w.grad[0].item() == 9


def test_writes_from_outside_count_only_where_they_overlap():
    memory = np.arange(6.0)
    shared = wg.from_numpy(memory)
    w = wg.ones(2, dtype=wg.float64, requires_grad=True)
    product, other = w * shared[:2], w * shared[2:4]
    memory[3] = 7
    product.sum().backward()
    with modified():
        other.sum().backward()


def test_our_own_writes_to_shared_memory_are_not_from_outside():
    memory = np.arange(4.0)
    shared = wg.from_numpy(memory)
    w = wg.ones(2, dtype=wg.float64, requires_grad=True)
    product = w * shared[:2]
    shared[2:] = 5
    product.sum().backward()
    assert memory[3] == 5
    product = w * shared[:2]
    shared[2:] = 6
    memory[0] = 1
    with modified("outside"):
        product.sum().backward()


def test_an_array_made_after_the_tensor_was_saved(x):
    z = x * x
    array_ = x.detach().numpy()
    array_[1] = 0
    del array_
    with modified("outside"):
        z.sum().backward()
    z = x * x
    total = x.detach().numpy().sum()
    z.sum().backward()
    assert total == 8


def test_arrays_that_only_we_can_reach_cost_nothing():
    shared = wg.from_numpy(np.arange(4.0) + 1)
    w = wg.ones(4, dtype=wg.float64, requires_grad=True)
    (w * shared).sum().backward()
    assert w.grad.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_large_memory_is_sampled():
    memory = np.zeros(4_000_000, np.float32)
    shared = wg.from_numpy(memory)
    w = wg.ones((), requires_grad=True)
    product = w * shared
    memory += 1
    with modified("outside"):
        product.sum().backward()


def test_lent_memory_neither_moves_nor_dies():
    t = wg.ones(4)
    lent = t.numpy()
    with pytest.raises(RuntimeError, match="not resizable"):
        t.resize_(100_000)
    t.set_(wg.zeros(2))
    gc.collect()
    assert lent.tolist() == [1.0] * 4
    del lent
    u = wg.ones(4)
    u.numpy()
    u.resize_(1000)
    with pytest.raises(RuntimeError, match="not resizable"):
        wg.from_numpy(np.ones(3)).resize_(1000)


# --- By hand
def test_V18_hidden_changes(x):
    z = x * x
    with wg.autograd._unsafe_preserve_version_counter(x), wg.no_grad():
        x.mul_(2)
    z.sum().backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0, 16.0]

    def fail():
        with wg.autograd._unsafe_preserve_version_counter((x,)), wg.no_grad():
            x.mul_(2)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert x._version == 0
    wg._C._autograd._unsafe_set_version_counter((x,), (5,))
    assert x._version == 5
    for wrong in (((x,), (-1,)), ((x,), ()), (x, 5), ((1,), (1,)), ((x,), ("a",))):
        with pytest.raises((RuntimeError, TypeError)):
            wg._C._autograd._unsafe_set_version_counter(*wrong)
