"""Views made again from another base: rows V14 (view functions), V15 (replay) and V16 (views of another dtype) of the
table of features.
"""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import pytest

import wengert as wg


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)


def test_V14_bases(x):
    base = x.view(2, 2) * 1
    assert not base._is_view()
    assert base._base is None
    assert base[0]._base is base[0][1:]._base is base
    assert not x.detach()._is_view()


def test_V14_view_func():
    base = wg.arange(6.0).reshape(2, 3) * 1
    view = base.t()[1:]
    other = wg.full((2, 3), 7.0)
    assert view._view_func(other).tolist() == [[7.0, 7.0], [7.0, 7.0]]
    assert view._view_func(base)._base is base
    assert view._view_func(wg.ones(5)) is None
    assert base._view_func(other) is None
    assert base.detach()._view_func(other) is None
    assert base.unbind()[1]._view_func(base).tolist() == [3.0, 4.0, 5.0]
    assert view._view_func_unsafe(wg.arange(12.0)[6:]).shape == (2, 2)
    as_real = wg.view_as_real(wg.ones(2, dtype=wg.complex64) * 1)
    assert as_real._view_func(wg.zeros(2, dtype=wg.complex64)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match=r"No _rev_view_func\(\) found"):
        view._rev_view_func_unsafe(view)


def test_V15_view_replay():
    x = wg.arange(6.0).reshape(2, 3).requires_grad_()
    enabled = wg.autograd.is_view_replay_enabled
    assert not enabled()
    with wg.autograd._force_original_view_tracking(True):
        assert enabled()
        base = x * 1
        view = base.t()[1:]
        view.mul_(2)
        assert view.grad_fn.name() == "SliceBackward0"
        assert view.grad_fn.next_functions[0][0].name() == "TBackward0"
        base.sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0, 2.0], [1.0, 2.0, 2.0]]
    base.mul_(2)
    assert view.grad_fn.name() == "SliceBackward0"
    wg.autograd._force_original_view_tracking(True)
    assert enabled()
    wg.autograd._force_original_view_tracking(False)
    assert not enabled()
    view = (x * 1).t()[1:]
    view.mul_(2)
    assert view.grad_fn.name() == "AsStridedBackward0"


def test_V16_through_views_of_another_dtype():
    z = wg.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    c = z * 1
    parts = wg.view_as_real(c)
    parts.mul_(2)
    assert c.grad_fn.name() == "torch::autograd::CopySlices"
    c.real.sum().backward()
    assert z.grad.tolist() == [2, 2]
    z.grad = None
    c = z * 1
    parts = wg.view_as_real(c)
    c.mul_(1j)
    parts.sum().backward()
    assert z.grad.tolist() == [1 - 1j, 1 - 1j]
    z.grad = None
    c = z * 1
    wg.view_as_real(c)[..., 0].mul_(3)
    c.real.sum().backward()
    assert z.grad.tolist() == [3, 3]
    z.grad = None
    c = z * 1
    c.real.mul_(3)
    c.imag.zero_()
    (c.real + c.imag).sum().backward()
    assert z.grad.tolist() == [3, 3]

    pairs = wg.ones(2, 2, requires_grad=True)
    b = pairs * 1
    as_complex = wg.view_as_complex(b)
    as_complex[:1].mul_(2j)
    assert b.tolist() == [[-2.0, 2.0], [1.0, 1.0]]
    (b * wg.tensor([1.0, 10.0])).sum().backward()
    assert pairs.grad.tolist() == [[20.0, -2.0], [1.0, 10.0]]
