"""Row U6: what samples are exactly: views, layouts, types of results, draws, ranks."""

from __future__ import annotations

import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert import Tensor
from wengert.autograd import functional
from wengert.autograd.gradcheck import GradcheckError, gradcheck
from wengert.func import vmap

close = wg.testing.assert_close


# --- Results that are their inputs
def test_u6_identity_returns_the_tensor_itself():
    x = wg.rand(2, 3, 4)
    for dim in range(3):
        assert vmap(lambda t: t, in_dims=dim, out_dims=dim)(x) is x
    assert vmap(lambda t: t, out_dims=1)(x)._base is x


def test_u6_contiguous_samples_stay_where_they_are():
    x = wg.rand(3, 2, 5).movedim(0, 1)  # samples along dim 1 are contiguous
    assert vmap(Tensor.contiguous, in_dims=1, out_dims=1)(x) is x
    seen = []
    vmap(lambda t: seen.append((t.is_contiguous(), t.contiguous().is_contiguous())) or t, in_dims=1)(wg.rand(2, 3, 5))
    assert seen == [(False, True)]


def test_u6_contiguous_is_asked_of_samples_not_of_batches():
    seen = []
    vmap(vmap(lambda t: seen.append(t.is_contiguous()) or t), in_dims=1)(wg.rand(5, 3, 2))
    vmap(lambda t: seen.append(t.is_contiguous()) or t)(wg.rand(0, 2, 2))
    assert seen == [True, True]


def test_u6_as_strided_of_samples():
    x = wg.rand(4, 3, 2)
    result = vmap(lambda t: t.as_strided((2, 3), (1, 2), t.storage_offset()))(x)
    close(result, x.mT)
    assert result._base is x
    with pytest.raises(RuntimeError, match="same length"):
        vmap(lambda t: t.as_strided((1, 1, 1), (1, 1)))(x)
    for start in (-1, 1):
        with pytest.raises(RuntimeError, match="not supported inside of vmap"):
            vmap(lambda t, start=start: t.as_strided((3, 2), (2, 1), t.storage_offset() + start))(wg.rand(6, 3, 2)[1:])


# --- Types of results
def test_u6_results_with_names_keep_their_type():
    x = wg.rand(3, 4, 2)
    for function, names in ((wg.max, ("values", "indices")), (wg.sort, ("values", "indices"))):
        result = vmap(function, (0, None))(x, 0)
        assert type(result) is type(function(x, 1))
        assert tuple(getattr(result, name).shape[0] for name in names) == (3, 3)
    assert vmap(wg.linalg.eigh)(wg.eye(2).expand(3, 2, 2)).eigenvalues.shape == (3, 2)


# --- In place
def test_u6_fill_with_the_number_of_each_sample():
    x, y = wg.zeros(3, 2), wg.tensor([1.0, 2.0, 3.0])
    assert vmap(Tensor.fill_)(x, y) is x
    close(x, y.unsqueeze(1).expand(3, 2))
    close(vmap(lambda t: t.fill_(wg.tensor(0.5)))(wg.zeros(3, 2)), wg.full((3, 2), 0.5))
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(Tensor.fill_, in_dims=(None, 0))(wg.zeros(2), y)


# --- Ranks of matrix products
@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (wg.mm, (2, 2, 2), (2,)),
        (wg.mm, (2,), (2, 2)),
        (wg.bmm, (2, 2, 2), (2,)),
        (wg.bmm, (2, 2), (2, 2, 2)),
        (wg.mv, (2, 2, 2), (2,)),
        (wg.mv, (2, 2), (2, 2)),
        (wg.dot, (2, 2), (2, 2)),
        (wg.dot, (2,), (2, 2)),
        (wg.vdot, (2, 2), (2,)),
    ],
)
def test_u6_products_want_the_ranks_of_samples(function, first, second):
    with pytest.raises(RuntimeError):
        function(wg.rand(first), wg.rand(second))
    with pytest.raises(RuntimeError):
        vmap(function)(wg.rand((3, *first)), wg.rand((3, *second)))
    with pytest.raises(RuntimeError):
        vmap(function, in_dims=(0, None))(wg.rand((3, *first)), wg.rand(second))


def test_u6_cat_of_empty_samples_keeps_their_history():
    x = wg.rand(3, 0).requires_grad_()
    assert vmap(lambda t: wg.cat([t, wg.ones(2)]))(x).requires_grad


# --- Draws
def test_u6_chunks_draw_alike_where_samples_do():
    x = wg.zeros(5, 4)
    state = wg.get_rng_state()
    whole = vmap(lambda t: t + wg.rand_like(t), randomness="same")(x)
    for size in (1, 2, 3):
        wg.set_rng_state(state)
        close(vmap(lambda t: t + wg.rand_like(t), randomness="same", chunk_size=size)(x), whole)


@pytest.mark.parametrize(
    "draw",
    [
        lambda size: wg.randint(100, size),
        lambda size: wg.randint(-5, 100, size),
        lambda size: wg.randint(low=0, high=9, size=size),
        lambda size: wg.normal(0.0, 1.0, size),
        lambda size: wg.normal(0.0, 1.0, size=size),
    ],
    ids=["randint", "randint of a range", "randint by name", "normal", "normal by name"],
)
def test_u6_draws_of_a_size_are_one_draw(draw):
    wg.manual_seed(0)
    batched = vmap(lambda _: draw((3, 2)), randomness="different")(wg.zeros(4))
    wg.manual_seed(0)
    assert (batched == draw((4, 3, 2))).all()
    same = vmap(lambda _: draw((3, 2)), randomness="same")(wg.zeros(4))
    assert (same == same[0]).all()


# --- What these lean on
def test_isclose_of_complex_numbers():
    z = wg.tensor([1 + 1j, complex("nan"), complex(float("inf"), 1), 2j])
    near = z + wg.tensor([1e-7j, 0, 0, 0.1])
    assert wg.isclose(z, near).tolist() == [True, False, True, False]
    assert wg.isclose(z, near, equal_nan=True).tolist() == [True, True, True, False]
    assert wg.allclose(z[:1], near[:1])
    assert wg.isclose(wg.tensor([1, 2]), wg.tensor([1, 3])).tolist() == [True, False]


def test_d1_the_current_level_can_be_asked_for():
    assert fwd._current_level == -1
    with fwd.dual_level():
        assert fwd._current_level == 0
        with fwd.dual_level():
            assert fwd._current_level == 1
    assert fwd._current_level == -1
    with pytest.raises(AttributeError):
        fwd._other_level  # noqa: B018


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda f, x: functional.jacobian(f, x, strict=True),
            "Output 0 of the user-provided function is independent of",
        ),
        (
            lambda f, x: functional.hessian(lambda t: f(t).sum(), x, strict=True),
            "jacobian of the user-provided function",
        ),
        (
            lambda f, x: functional.vhp(lambda t: (3 * t).sum(), x, x, strict=True),
            "with respect to input 0 is independent",
        ),
        (
            lambda f, x: functional.hvp(lambda t: (3 * t).sum(), x, x, strict=True),
            "with respect to input 0 is independent",
        ),
    ],
    ids=["jacobian", "hessian", "vhp", "hvp"],
)
def test_t6_strict_mode_says_what_is_independent(call, text):
    def unrelated(x):
        return x.long().float().requires_grad_().clone()

    with pytest.raises(RuntimeError, match=text):
        call(unrelated, wg.rand(4))


def test_c1_imaginary_parts_are_compared_first():
    def wrong(z):
        y = z.clone()
        y.register_hook(lambda g: g + 0.01)
        return y

    z = wg.ones(2, dtype=wg.complex128).requires_grad_()
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex outputs only"):
        gradcheck(wrong, (z,))


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
def test_dropout_inside_of_other_operations_asks_what_randomness_is_wanted(randomness):
    x = wg.ones(3, 2, 4, 8)

    def attend(x):
        return wg.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5)

    run = vmap(attend, randomness=randomness)
    if randomness == "error":
        with pytest.raises(RuntimeError, match="randomness error mode"):
            run(x)
        return
    first, second, _ = run(x)
    assert wg.equal(first, second) == (randomness == "same")


@pytest.mark.parametrize("question", [wg.equal, wg.allclose, wg.is_nonzero])
def test_no_sample_answers_for_all(question):
    x = wg.tensor([[1.0], [2.0]])
    arguments = (x,) if question is wg.is_nonzero else (x, wg.tensor([[1.0], [3.0]]))
    with pytest.raises(RuntimeError, match="vmap: "):
        vmap(lambda *samples: wg.tensor(float(question(*samples))))(*arguments)


# (function, shape of what is added to, shapes of the factors)
ADDED_PRODUCTS = [
    (wg.addmm, (2, 3), (2, 5), (5, 3)),
    (wg.addmv, (2,), (2, 5), (5,)),
    (wg.addr, (2, 3), (2,), (3,)),
    (wg.baddbmm, (4, 2, 3), (4, 2, 5), (4, 5, 3)),
    (wg.addbmm, (2, 3), (4, 2, 5), (4, 5, 3)),
]


@pytest.mark.parametrize(("function", "added", "left", "right"), ADDED_PRODUCTS)
def test_products_are_added_to_as_for_one_sample(function, added, left, right):
    x, a, b = wg.full(added, float("nan")), wg.randn(6, *left), wg.randn(6, *right)
    product = wg.stack([function(wg.zeros(added), *sample, alpha=2) for sample in zip(a, b, strict=True)])
    close(vmap(lambda a, b: function(x, a, b, beta=0, alpha=2))(a, b), product)  # x is not read
    if function is not wg.addr:  # which promotes
        with pytest.raises(RuntimeError, match="must have the same dtype"):
            vmap(lambda a, b: function(x, a, b))(a.double(), b.double())
