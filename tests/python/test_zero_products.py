"""Products of tensors in the chain rule: what is exactly zero adds nothing, and infinities keep their signs."""

import math

import numpy as np
import pytest

import wengert as wg

NAN, INF = math.nan, math.inf
chain = wg._C._private.matmul_chain


def f64(x: object, requires_grad: bool = False) -> wg.Tensor:
    return wg.tensor(x, dtype=wg.float64, requires_grad=requires_grad)


@pytest.mark.parametrize("dtype", [wg.float32, wg.float64, wg.complex64, wg.complex128])
def test_zero_times_anything_is_zero(dtype: wg.dtype) -> None:
    a = wg.tensor([[0.0, 1.0], [2.0, 0.0]], dtype=dtype)
    b = wg.tensor([[NAN, INF], [3.0, 5.0]], dtype=dtype)
    got = chain(a, b)
    assert got[0].tolist() == [3, 5]
    assert not np.isfinite(got[1].numpy()).any()


def test_infinities_keep_their_signs() -> None:
    a, b = f64([[1.0, 0.0, -2.0, INF]]), f64([[INF, INF, 1.0], [NAN, NAN, NAN], [0.5, INF, 0.0], [0.0, 0.0, -1.0]])
    np.testing.assert_array_equal(chain(a, b).numpy(), [[INF, NAN, -INF]])
    np.testing.assert_array_equal(chain(a[:, :3], b[:3]).numpy(), [[INF, NAN, 1]])
    np.testing.assert_array_equal(chain(-a[:, :2], b[:2, :1]).numpy(), [[-INF]])


def test_a_row_that_the_loss_does_not_read() -> None:
    x, w = f64([[NAN, INF], [1.0, 2.0]], True), f64([[1.0, -2.0], [0.5, 3.0]], True)
    grads = wg.autograd.grad((x @ w)[1].sum(), (x, w))
    assert grads[0].tolist() == [[0, 0], [-1, 3.5]]
    assert grads[1].tolist() == [[1, 1], [2, 2]]
    assert math.isnan((x @ w)[0, 0].item())  # values are what they were


def test_how_much_depends_on_a_cotangent_of_zero_is_not_hidden() -> None:
    """The gradient is linear in the cotangent, also where that is zero: its slope there is the partial itself."""
    x, g = f64([[2.0, INF]]), f64([[0.0, 0.0]], True)
    w = f64([[1.0], [1.0]], True)
    (grad,) = wg.autograd.grad((x.expand(2, 2) @ w), w, g.mT, create_graph=True)
    assert grad.tolist() == [[0], [0]]
    assert wg.autograd.grad(grad[0, 0], g, retain_graph=True)[0].tolist() == [[2, 2]]
    assert wg.autograd.grad(grad[1, 0], g)[0].tolist() == [[INF, INF]]


def test_samples_of_spectra_that_nobody_reads() -> None:
    a = wg.stack([wg.zeros(2, 2, dtype=wg.float64), f64([[2.0, 0.3], [0.1, 1.0]])]).requires_grad_()
    u, s, vh = wg.linalg.svd(a)
    (grad,) = wg.autograd.grad(u[1, 0, 0] * s[1, 1] * vh[1, 0, 1], a)
    assert not grad[0].any()
    assert grad.isfinite().all()


def test_strict_mode_multiplies() -> None:
    x, w = f64([[NAN, NAN], [1.0, 2.0]]), f64([1.0, -2.0], True)
    wg.autograd.set_strict_singular(True)
    try:
        (grad,) = wg.autograd.grad((x @ w)[1], w)
    finally:
        wg.autograd.set_strict_singular(False)
    assert grad.isnan().all()


def test_products_of_the_others_that_overflow() -> None:
    x = wg.tensor([[1e13, 0, 0], [1e13, 1e13, 0], [1e13, 1e13, 1e13]], dtype=wg.float32, requires_grad=True)
    assert not wg.autograd.grad(x.prod(), x)[0].any()
    assert wg.autograd.grad(x.flatten().cumprod(0)[0], x)[0].flatten().tolist() == [1] + [0] * 8


def test_in_vmap() -> None:
    x, w = f64([[[NAN, NAN], [1.0, 2.0]]] * 2), f64([1.0, -2.0])
    grads = wg.func.vmap(wg.func.grad(lambda w, x: (x @ w)[1]), (None, 0))(w, x)
    assert grads.tolist() == [[1, 2], [1, 2]]
