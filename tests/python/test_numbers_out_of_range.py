"""What users' numbers may be although code does not expect it: NaN and infinity where an integer is made, huge counts,
results that leave the real numbers, negative padding, factors that are zero, nothing at all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.operations import DIFFERENTIABLE, Operation, case
from wengert.autograd import functional, grad, gradcheck, gradgradcheck

F = wg.nn.functional
INF, NAN = math.inf, math.nan


# --- Floats that become integers
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("dtype", [wg.float32, wg.float64])
def test_grid_sample_of_any_coordinate(mode: str, padding: str, dtype: Any) -> None:
    image = wg.tensor([[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], dtype=dtype, requires_grad=True)
    places = [NAN, INF, -INF, 1e30, -1e30, 0.0]
    grid = wg.tensor([[[[x, 0.9] for x in places]]], dtype=dtype, requires_grad=True)
    out = F.grid_sample(image, grid, mode=mode, padding_mode=padding, align_corners=True)
    values = out.detach().numpy().ravel()
    assert math.isnan(values[0])
    if padding == "zeros":
        assert not values[1:5].any()
    if padding == "border":
        edge = F.grid_sample(image, wg.tensor([[[[1.0, 0.9], [-1.0, 0.9]]]], dtype=dtype), mode, padding, True).detach()
        np.testing.assert_allclose(values[1:5], np.tile(edge.numpy().ravel(), 2), rtol=1e-6)
    grad(out[..., 5].sum(), [image, grid])


def test_histogram_of_the_whole_range() -> None:
    for dtype in (np.float32, np.float64):
        most = np.finfo(dtype).max
        counts = wg.histc(
            wg.tensor(np.array([-most, -most / 2, 0, most / 2, most, NAN], dtype)), bins=4, min=-most, max=most
        )
        assert counts.tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("q", [NAN, INF, -0.1, 1.5])
def test_quantiles_outside_of_the_range(q: float) -> None:
    x = wg.tensor([1.0, 2.0])
    for given in (q, wg.tensor(q), wg.tensor([0.5, q])):
        with pytest.raises(RuntimeError, match=r"range \[0, 1\]"):
            wg.quantile(x, given)


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e300, 2.0**63])
def test_floats_that_are_no_integers(value: float) -> None:
    for make in (
        lambda: wg.full((2,), value, dtype=wg.int64),
        lambda: wg.zeros(2, dtype=wg.int32).fill_(value),
        lambda: wg.arange(0, value, dtype=wg.int64),
    ):
        with pytest.raises(RuntimeError, match="without overflow"):
            make()
    assert wg.full((1,), -(2.0**63), dtype=wg.int64).item() == -(2**63)
    assert wg.full((1,), 2.9, dtype=wg.int64).item() == 2
    assert wg.full((1,), -1.0, dtype=wg.uint8).item() == 255


# --- Work without bound from one integer
def test_triangles_of_huge_matrices() -> None:
    n = 2**40
    assert wg.tril_indices(n, 0).shape == (2, 0)
    assert wg.triu_indices(n, 0).shape == (2, 0)
    assert wg.tril_indices(n, 1, -n + 1).tolist() == [[n - 1], [0]]
    assert wg.triu_indices(n, 3, 1).tolist() == [[0, 0, 1], [1, 2, 2]]
    assert wg.tril_indices(0, n).shape == wg.triu_indices(1, n, n).shape == (2, 0)
    for f in (wg.tril_indices, wg.triu_indices):
        with pytest.raises(RuntimeError, match="more elements than a tensor can have"):
            f(n, n)
        with pytest.raises((RuntimeError, MemoryError)):
            f(2**62, 2**62, -5)


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (3, 5), (5, 3), (4, 4)])
def test_triangles_are_those_of_numpy(shape: tuple[int, int]) -> None:
    for offset in [-(2**63), *range(-7, 8), 2**63 - 1]:
        near = max(-9, min(9, offset))
        assert wg.tril_indices(*shape, offset).tolist() == [list(i) for i in np.tril_indices(shape[0], near, shape[1])]
        assert wg.triu_indices(*shape, offset).tolist() == [list(i) for i in np.triu_indices(shape[0], near, shape[1])]


def test_multivariate_gamma_of_huge_dimension() -> None:
    from scipy.special import multigammaln

    for p in (2**40, 2**63 - 1):
        with pytest.raises(RuntimeError, match=r"at most 1048576"):
            wg.mvlgamma(wg.tensor([5.0]), p)
    for p in (1, 2, 3, 40):
        np.testing.assert_allclose(
            wg.mvlgamma(wg.tensor(30.3, dtype=wg.float64), p).item(), multigammaln(30.3, p), rtol=1e-14
        )


def test_images_of_huge_size() -> None:
    with pytest.raises((RuntimeError, MemoryError)):
        F.interpolate(wg.zeros(1, 1, 3), size=2**60)
    assert F.interpolate(wg.zeros(0, 1, 3), size=2**40).shape == (0, 1, 2**40)


# --- dtype= that leaves the real numbers
COMPLEX_RESULTS = [o for o in DIFFERENTIABLE if any(a["type"] == "dtype?" for a in o.arguments) and o.allows_complex]


@pytest.mark.parametrize("operation", COMPLEX_RESULTS, ids=repr)
def test_gradients_of_complex_results_of_real_arguments_are_real(operation: Operation) -> None:
    checked = 0
    for sample in operation.samples():
        c = case(operation, sample)
        if not c.paths or any(t.dtype != wg.float64 for t in c.tensors):
            continue
        leaf = c.leaves()
        for dtype, real in ((wg.complex128, wg.float64), (wg.complex64, wg.float32)):
            c.values["dtype"] = dtype
            try:
                outputs = c.function(*leaf)
            except RuntimeError:
                continue  # norms of a real dtype, and their like
            number = sum((o.real * 0.7 + (o.imag * 1.3 if o.dtype.is_complex else 0)).sum() for o in outputs)
            got = grad(number, leaf)
            c.values["dtype"] = real
            want = grad(sum((o * 0.7).sum() for o in c.function(*leaf)), leaf)
            for g, w in zip(got, want, strict=True):
                assert g.dtype == wg.float64
                np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-4 if real == wg.float32 else 1e-12, atol=1e-6)
            checked += 1
    assert checked or not operation.samples()


# --- Factors that are zero
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("zeros", [(), (1,), (1, 4), (0, 1, 4)])
def test_products_of_groups_with_zeros(zeros: tuple[int, ...], include_self: bool) -> None:
    values = np.array([3.0, 2.0, -1.5, 0.7, 5.0])
    values[list(zeros)] = 0
    index = wg.tensor([0, 0, 2, 2, 0])
    start = np.array([1.5, 2.5, 0.0 if zeros else 0.5])

    def product(a: Any, v: Any) -> Any:
        return a.scatter_reduce(0, index, v, "prod", include_self=include_self)

    def by_hand(a: Any, v: Any) -> Any:
        groups = [v[0] * v[1] * v[4], None, v[2] * v[3]]
        return wg.stack([a[i] if g is None else g * a[i] if include_self else g for i, g in enumerate(groups)])

    a, v = wg.tensor(start, requires_grad=True), wg.tensor(values, requires_grad=True)
    weights = wg.tensor([1.0, -0.3, 0.9], dtype=wg.float64)
    for f in (functional.jacobian, functional.hessian):
        got, want = (f(lambda a, v, g=g: (g(a, v) * weights).sum(), (a, v)) for g in (product, by_hand))
        for x, y in zip(flat(got), flat(want), strict=True):
            np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-12, atol=1e-12)
    jacobian = wg.func.jacfwd(product, argnums=1)(a.detach(), v.detach())
    np.testing.assert_allclose(
        jacobian.numpy(), wg.func.jacfwd(by_hand, argnums=1)(a.detach(), v.detach()).numpy(), rtol=1e-12
    )
    if not include_self or not zeros:
        assert gradcheck(product, (a, v))
        assert gradgradcheck(product, (a, v))


def flat(tree: Any) -> list[Any]:
    return [leaf for t in tree for leaf in flat(t)] if isinstance(tree, tuple) else [tree]


def test_products_of_rows_with_zeros() -> None:
    source = wg.tensor([[3.0, 0.0], [0.0, 2.0], [5.0, 0.0]], dtype=wg.float64, requires_grad=True)
    out = wg.ones(2, 2, dtype=wg.float64).index_reduce(0, wg.tensor([0, 0, 0]), source, "prod")
    first = grad(out.sum(), source, create_graph=True)[0]
    np.testing.assert_allclose(first.detach().numpy(), [[0, 0], [15, 0], [0, 0]])
    second = grad(first[1, 0], source)[0]
    np.testing.assert_allclose(second.numpy(), [[5, 0], [0, 0], [3, 0]])


# --- Broadcasting along the dimension that is reduced
def test_cosine_similarity_of_operands_that_broadcast_along_dim() -> None:
    rng = np.random.default_rng(3)
    for a, b, dim in [((1, 2, 3), (2, 1, 3), -2), ((2, 1), (2, 4), 1), ((3,), (4, 3), 0), ((1, 3), (5, 3), 0)]:
        x, y = rng.normal(size=a), rng.normal(size=b)
        p, q = np.broadcast_arrays(x, y)
        want = (p * q).sum(dim) / np.linalg.norm(p, axis=dim) / np.linalg.norm(q, axis=dim)
        leaves = [wg.tensor(x, requires_grad=True), wg.tensor(y, requires_grad=True)]
        np.testing.assert_allclose(F.cosine_similarity(*leaves, dim=dim).detach().numpy(), want, rtol=1e-13)
        assert gradcheck(lambda s, t, d=dim: F.cosine_similarity(s, t, dim=d), leaves)


# --- Padding
@pytest.mark.parametrize("pad", [(-2, 3), (3, -2), (-1, -2), (2, 2), (-4, 1), (1, -4), (0, 0)])
def test_circular_padding_crops_first(pad: tuple[int, int]) -> None:
    x = np.arange(10.0).reshape(1, 2, 5)
    kept = x[..., max(-pad[0], 0) : 5 - max(-pad[1], 0)]
    want = np.pad(kept, [(0, 0), (0, 0), (max(pad[0], 0), max(pad[1], 0))], mode="wrap")
    leaf = wg.tensor(x, requires_grad=True)
    out = F.pad(leaf, pad, mode="circular")
    np.testing.assert_array_equal(out.detach().numpy(), want)
    assert gradcheck(lambda t: F.pad(t, pad, mode="circular"), (leaf,))


def test_circular_padding_wraps_once() -> None:
    for pad in [(6, 0), (-3, 3), (3, -3)]:
        with pytest.raises(RuntimeError, match="Padding size"):
            F.pad(wg.zeros(1, 1, 5), pad, mode="circular")


# --- Integers, and nothing
def test_integers_to_negative_powers() -> None:
    for dtype in (wg.int64, wg.int32, wg.uint8, wg.bool):
        for f in (lambda t: t.pow(-1), lambda t: t**-2, lambda t: wg.pow(t, -1)):
            with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
                f(wg.tensor([5, 0, 1]).to(dtype))
    x = wg.tensor([5, 0])
    with pytest.raises(RuntimeError, match="Integers to negative"):
        x.pow_(-1)
    assert x.tolist() == [5, 0]
    assert wg.pow(wg.tensor([5, 0, 1, -1]), wg.tensor([-1, -1, -1, -1])).tolist() == [0, 0, 1, -1]
    np.testing.assert_allclose(wg.tensor([5, 2]).pow(-1.0).numpy(), [0.2, 0.5])


def test_second_derivatives_of_expanded_and_empty_tensors() -> None:
    for shape, is_complex in [((0,), False), ((0, 3), True), ((1,), True), ((2,), False)]:
        dtype = wg.complex128 if is_complex else wg.float64
        x = wg.ones(shape, dtype=dtype).requires_grad_()

        def f(x: Any) -> Any:
            y = wg.addcmul(x, x, x).abs()
            return wg.logaddexp(y, y.expand(2, *y.shape)).sum()

        first = grad(f(x), x, create_graph=True)[0]
        second = grad((first.abs() * 1.0).sum(), x)[0]
        assert second.shape == x.shape


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_margin_losses_of_empty_batches(reduction: str) -> None:
    """No losses have the sum 0 and no mean, as everywhere; PyTorch leaves some of them uninitialised."""
    labels, none = wg.zeros(0, dtype=wg.int64), wg.zeros(0, 3, requires_grad=True)
    for loss in (
        F.multi_margin_loss(none, labels, reduction=reduction),
        F.multilabel_margin_loss(none, wg.zeros(0, 3, dtype=wg.int64), reduction=reduction),
        F.multilabel_soft_margin_loss(none, wg.zeros(0, 3), reduction=reduction),
        F.hinge_embedding_loss(none, wg.zeros(0, 3), reduction=reduction),
        F.margin_ranking_loss(none, none, wg.zeros(0, 3), reduction=reduction),
        F.cosine_embedding_loss(none, none, wg.zeros(0), reduction=reduction),
        F.triplet_margin_loss(none, none, none, reduction=reduction),
    ):
        if reduction == "none":
            assert loss.numel() == 0
        else:
            assert loss.item() == 0 if reduction == "sum" else math.isnan(loss.item())
        assert grad(loss.sum(), none)[0].shape == (0, 3)
    for f, target in ((F.multi_margin_loss, (2,)), (F.multilabel_margin_loss, (2, 0))):
        with pytest.raises(RuntimeError, match="non-empty vector or matrix"):
            f(wg.zeros(2, 0), wg.zeros(*target, dtype=wg.int64))
