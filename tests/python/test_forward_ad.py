"""Forward mode: one test for each row D1-D10 of the table of features, and nested levels."""
# ruff: noqa: N802 (tests bear the ids of the rows they prove)

import gc
import threading
import weakref

import pytest

import wengert as wg
from wengert.autograd import forward_ad as fwd
from wengert.autograd import grad


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0])


@pytest.fixture
def t():
    return wg.tensor([1.0, 10.0])


def test_D1_levels(x, t):
    level = fwd.enter_dual_level()
    assert level == 0
    dual = fwd.make_dual(x, t)
    assert fwd.unpack_dual(dual).tangent is not None
    fwd.exit_dual_level()
    assert fwd.unpack_dual(dual).tangent is None
    with fwd.dual_level() as level:
        assert level == 0
        assert fwd.unpack_dual(dual).tangent is None

    @fwd.dual_level()
    def decorated():
        return fwd.unpack_dual(fwd.make_dual(x, t) * 2).tangent.tolist()

    assert decorated() == [2.0, 20.0]


def test_D1_errors():
    with pytest.raises(RuntimeError, match="exit a forward AD level"):
        fwd.exit_dual_level()
    with fwd.dual_level(), pytest.raises(RuntimeError, match="not the last one that was created"):
        fwd.exit_dual_level(level=5)


def test_D1_level_is_closed_after_an_exception():
    with pytest.raises(KeyError), fwd.dual_level():
        raise KeyError
    with fwd.dual_level() as level:
        assert level == 0


def test_D1_nested_levels(x):
    # d/dx and d2/dx2 of x^3 along ones: the outer tangent of the inner tangent.
    with fwd.dual_level() as outer:
        once = fwd.make_dual(x, wg.ones(2), level=outer)
        with fwd.dual_level() as inner:
            assert (outer, inner) == (0, 1)
            twice = fwd.make_dual(once, wg.ones(2), level=inner)
            first = fwd.unpack_dual(twice**3, level=inner).tangent
        second = fwd.unpack_dual(first, level=outer)
    assert second.primal.tolist() == [3.0, 12.0]
    assert second.tangent.tolist() == [6.0, 12.0]


def test_D1_nested_levels_do_not_confuse_perturbations():
    # d/dx (x * d/dy (x + y) at y = 1) at x = 1 is 1.
    x, one = wg.tensor(1.0), wg.tensor(1.0)
    with fwd.dual_level():
        outer = fwd.make_dual(x, one)
        with fwd.dual_level():
            inner = fwd.make_dual(wg.tensor(1.0), one)
            derivative = fwd.unpack_dual(outer + inner).tangent
        result = fwd.unpack_dual(outer * derivative).tangent
    assert result.item() == 1.0


def test_D2_make_dual(x, t):
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        assert fwd.unpack_dual(dual).tangent is t
        dual.add_(1)
        assert x.tolist() == [2.0, 3.0]


def test_D2_tangent_of_another_layout_is_copied(x):
    primal = wg.arange(6.0).reshape(2, 3)
    tangent = wg.arange(6.0).reshape(3, 2).t()
    with fwd.dual_level():
        attached = fwd.unpack_dual(fwd.make_dual(primal, tangent)).tangent
        assert attached is not tangent
        assert attached.tolist() == tangent.tolist()
        assert attached.stride() == primal.stride()


def test_D2_is_differentiable_in_reverse(x, t):
    x.requires_grad_()
    t.requires_grad_()
    with fwd.dual_level():
        dual = fwd.make_dual(x, t) * 3
        primal, tangent = fwd.unpack_dual(dual)
        assert grad(primal.sum(), x, retain_graph=True)[0].tolist() == [3.0, 3.0]
        assert grad(tangent.sum(), t)[0].tolist() == [3.0, 3.0]


def test_D2_errors(x, t):
    with pytest.raises(RuntimeError, match="no level exists"):
        fwd.make_dual(x, t)
    with fwd.dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            fwd.make_dual(wg.ones(2, dtype=wg.int64), t)
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex"):
            fwd.make_dual(x, wg.ones(2, dtype=wg.int64))
        with pytest.raises(RuntimeError, match="different size"):
            fwd.make_dual(x, wg.ones(3))
        dual = fwd.make_dual(x, t)
        with pytest.raises(RuntimeError, match="forward gradient at the same level"):
            fwd.make_dual(dual, t)
        with pytest.raises(RuntimeError, match="forward gradient at the same level"):
            fwd.make_dual(x, dual)


def test_D3_unpack_dual(x, t):
    assert fwd.unpack_dual(x) == (x, None)
    with fwd.dual_level():
        unpacked = fwd.unpack_dual(fwd.make_dual(x, t))
        assert isinstance(unpacked, fwd.UnpackedDualTensor)
        assert unpacked.primal.tolist() == x.tolist()
        assert unpacked.tangent is t
        version = x._version
        unpacked.primal.add_(1)
        assert x._version == version + 1
        assert fwd.unpack_dual(x).tangent is None


def test_D4_propagation(x, t):
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        assert fwd.unpack_dual(dual * x).tangent.tolist() == [1.0, 20.0]
        assert fwd.unpack_dual(dual * dual).tangent.tolist() == [2.0, 40.0]
        assert fwd.unpack_dual(dual.sum()).tangent.item() == 11.0
        assert fwd.unpack_dual(x * x).tangent is None
        wg.testing.assert_close(fwd.unpack_dual(dual.exp()).tangent, x.exp() * t)


def test_D4_out_is_refused(x, t):
    with fwd.dual_level(), pytest.raises(NotImplementedError, match="Trying to use forward AD with"):
        wg.add(fwd.make_dual(x, t), x, out=wg.empty(2))


def test_D5_grad_modes(x, t):
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        with wg.no_grad():
            assert fwd.unpack_dual(dual * 2).tangent.tolist() == [2.0, 20.0]
        assert fwd.unpack_dual(dual.detach()).tangent is None
        with wg.inference_mode():
            assert fwd.unpack_dual(dual * 2).tangent is None
        product = dual * 2
        product.detach_()
        assert fwd.unpack_dual(product).tangent is None


def test_D6_views_and_in_place(x, t):
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        assert fwd.unpack_dual(dual[1:]).tangent.tolist() == [10.0]
        dual.mul_(2)
        assert fwd.unpack_dual(dual).tangent.tolist() == [2.0, 20.0]
        assert t.tolist() == [2.0, 20.0]


def test_D6_in_place_on_a_plain_base(x, t):
    with fwd.dual_level():
        base = wg.zeros(2)
        view = base[1:]
        view.copy_(fwd.make_dual(x, t)[1:])
        assert fwd.unpack_dual(view).tangent.tolist() == [10.0]
        assert fwd.unpack_dual(base).tangent.tolist() == [0.0, 10.0]


def test_D6_non_differentiable_aliases(x, t):
    with fwd.dual_level():
        plain = wg.zeros(2)
        alias = plain.detach()
        alias.add_(fwd.make_dual(x, t))
        assert fwd.unpack_dual(alias).tangent is not None
        assert fwd.unpack_dual(plain).tangent is None


def test_D7_forward_over_reverse(x, t):
    # The gradient of sum(x^3) is 3 x^2, and its derivative along t is 6 x t.
    x.requires_grad_()
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        (first,) = grad((dual**3).sum(), dual)
        primal, tangent = fwd.unpack_dual(first)
        assert primal.tolist() == [3.0, 12.0]
        assert tangent.tolist() == [6.0, 120.0]


def test_D7_reverse_over_forward(x, t):
    x.requires_grad_()
    with fwd.dual_level():
        tangent = fwd.unpack_dual(fwd.make_dual(x, t) ** 3).tangent
        assert grad(tangent.sum(), x)[0].tolist() == [6.0, 120.0]


def test_D7_saved_tensors_keep_their_tangents(x, t):
    x.requires_grad_()
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        y = dual.exp()
        (first,) = grad(y.sum(), dual)
        wg.testing.assert_close(fwd.unpack_dual(first).tangent, (x.exp() * t).detach(), check_dtype=True)


def test_D8_levels_do_not_keep_duals(x, t):
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        reference = weakref.ref(dual)
        del dual
        gc.collect()
        assert reference() is None


def test_D8_cyclic_duals(x, t):
    with fwd.dual_level():
        dual = fwd.make_dual(x.requires_grad_(), t)
        dual.cycle = fwd.unpack_dual(dual * 2).tangent
        dual.cycle.back = dual
    del dual
    gc.collect()


def test_D8_levels_cross_threads(x, t):
    seen = []
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        thread = threading.Thread(target=lambda: seen.append(fwd.unpack_dual(dual * 2).tangent.tolist()))
        thread.start()
        thread.join()
    assert seen == [[2.0, 20.0]]


def test_D10_printing(x, t):
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        assert "tangent=" in repr(dual)
        assert "tangent=" not in repr(x)
    assert "tangent=" not in repr(dual)
