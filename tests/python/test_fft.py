"""Fourier transforms: the values of numpy.fft, derivatives of every order, threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import gradcheck, gradgradcheck
from wengert.func import vmap

RNG = np.random.default_rng(5)
REAL = RNG.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 4, 5))
NORMS = (None, "backward", "ortho", "forward")


def close(result, expected):
    assert result.dtype == wg.as_tensor(expected).dtype
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("n", [None, 1, 2, 3, 6, 7])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dimension(name, n, dim, norm):
    for array in (REAL,) if name in ("rfft", "ihfft") else (REAL, COMPLEX):
        expected = getattr(np.fft, name)(array, n, dim, norm)
        close(getattr(wg.fft, name)(wg.tensor(array), n, dim, norm), expected)
        close(getattr(np.fft, name)(wg.tensor(array), n, dim, norm), expected)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("s", "dim"),
    [(None, None), (None, (0, 2)), ((2, 6), (2, 0)), ((3, 3, 3), (0, 1, 2)), ((5,), (1,)), ((2, 4), (1, 2))],
)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_dimensions(name, s, dim, norm):
    for array in (REAL,) if name == "rfftn" else (REAL, COMPLEX):
        expected = getattr(np.fft, name)(array, s, dim, norm)
        close(getattr(wg.fft, name)(wg.tensor(array), s, dim, norm), expected)
        close(getattr(np.fft, name)(wg.tensor(array), s, dim, norm), expected)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_planes(name):
    array = REAL if name == "rfft2" else COMPLEX
    close(getattr(wg.fft, name)(wg.tensor(array)), getattr(np.fft, name)(array))
    close(getattr(np.fft, name)(wg.tensor(array)), getattr(np.fft, name)(array))
    close(getattr(wg.fft, name)(wg.tensor(array), (3, 2), (0, 1)), getattr(np.fft, name)(array, (3, 2), (0, 1)))


@pytest.mark.parametrize("n", [97, 211, 1009, 3000, 4096, 4099, 9999, 60060])
@pytest.mark.parametrize("lines", [1, 20])
def test_lengths(lines, n):
    array = RNG.normal(size=(lines, n))
    x, spectrum = wg.tensor(array), np.fft.fft(array)
    largest = np.abs(spectrum).max()
    close(wg.fft.fft(x) / largest, spectrum / largest)
    close(wg.fft.fft(x + 0j) / largest, spectrum / largest)
    close(wg.fft.irfft(wg.fft.rfft(x), n), array)
    close(wg.fft.fft(x.mT, dim=0).mT, wg.fft.fft(x).numpy())


def test_hermitian_grids_are_inverse_to_each_other():
    x = wg.tensor(REAL)
    close(wg.fft.hfftn(wg.fft.ihfftn(x), x.shape), REAL)
    close(wg.fft.hfft2(wg.fft.ihfft2(x), x.shape[1:]), REAL)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n):
    close(wg.fft.fftfreq(n, 0.5, dtype=wg.float64), np.fft.fftfreq(n, 0.5))
    close(wg.fft.rfftfreq(n, 0.5, dtype=wg.float64), np.fft.rfftfreq(n, 0.5))
    assert wg.fft.fftfreq(n).dtype == wg.float32
    assert wg.fft.fftfreq(n, requires_grad=True).requires_grad


@pytest.mark.parametrize("dim", [None, 0, (0, 2)])
def test_shifts(dim):
    for name in ("fftshift", "ifftshift"):
        close(getattr(wg.fft, name)(wg.tensor(REAL), dim), getattr(np.fft, name)(REAL, dim))
        close(getattr(np.fft, name)(wg.tensor(REAL), dim), getattr(np.fft, name)(REAL, dim))


def test_dtypes():
    assert wg.fft.fft(wg.ones(4)).dtype == wg.complex64
    assert wg.fft.rfft(wg.tensor([1, 2, 3])).dtype == wg.complex64
    assert wg.fft.irfft(wg.ones(4, dtype=wg.complex64)).dtype == wg.float32
    assert wg.fft.fft(wg.ones(4, dtype=wg.float64)).dtype == wg.complex128


def test_strides_and_views():
    x = wg.tensor(COMPLEX)
    close(wg.fft.fft(x.transpose(0, 2)), np.fft.fft(COMPLEX.transpose(2, 1, 0)))
    close(wg.fft.fft(x[:, 1]), np.fft.fft(COMPLEX[:, 1]))
    close(wg.fft.fft(x[0, :1].expand(3, 5)), np.fft.fft(np.broadcast_to(COMPLEX[0, :1], (3, 5))))
    assert wg.fft.fft(wg.zeros(0, 3)).shape == (0, 3)
    assert wg.fft.rfft(wg.zeros(0, 4)).shape == (0, 3)


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (lambda x: wg.fft.fft(x, 3), COMPLEX[0, 0]),
        (lambda x: wg.fft.ifft(x, 6, norm="ortho"), COMPLEX[0, 0]),
        (lambda x: wg.fft.fft(x), REAL[0, 0]),
        (lambda x: wg.fft.rfft(x), REAL[0, 0]),
        (lambda x: wg.fft.rfft(x, 4), REAL[0, 0]),
        (lambda x: wg.fft.irfft(x), COMPLEX[0, 0]),
        (lambda x: wg.fft.irfft(x, 5, norm="forward"), COMPLEX[0, 0]),
        (lambda x: wg.fft.hfft(x, 6), COMPLEX[0, 0]),
        (lambda x: wg.fft.ihfft(x), REAL[0, 0]),
        (lambda x: wg.fft.fft2(x), COMPLEX[0, :2, :2]),
        (lambda x: wg.fft.rfftn(x, norm="ortho"), REAL[0, :2, :3]),
        (lambda x: wg.fft.irfftn(x, (3, 4)), COMPLEX[0, :2, :3]),
        (lambda x: wg.fft.irfftn(x, (2, 3), (1, 0)), COMPLEX[0, :2, :3]),
        (lambda x: wg.fft.fftshift(wg.fft.fft(x)), COMPLEX[0, 0]),
    ],
)
def test_derivatives(function, array):
    x = wg.tensor(array, requires_grad=True)
    assert gradcheck(function, x, check_forward_ad=True, check_batched_grad=True)
    square = (lambda x: function(x).abs().square()) if function(x).is_complex() else (lambda x: function(x).square())
    assert gradgradcheck(square, x, check_fwd_over_rev=True)


def test_energy_is_kept():
    x = wg.tensor(REAL, requires_grad=True)
    wg.fft.fftn(x, norm="ortho").abs().square().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * REAL, rtol=1e-12)


def test_differentiation_of_a_periodic_function():
    n = 16
    places = wg.arange(n, dtype=wg.float64) * (2 * np.pi / n)
    u = places.sin().requires_grad_()
    frequencies = wg.fft.fftfreq(n, 1 / n, dtype=wg.float64)
    slope = wg.fft.ifft(1j * frequencies * wg.fft.fft(u)).real
    np.testing.assert_allclose(slope.detach().numpy(), np.cos(places.numpy()), atol=1e-12)
    (gradient,) = wg.autograd.grad(slope[3], u)  # an antisymmetric matrix
    assert gradient[3].abs() < 1e-12


def test_vmap():
    x = wg.tensor(COMPLEX)
    close(vmap(wg.fft.fft, in_dims=1, out_dims=1)(x), np.fft.fft(COMPLEX, axis=-1))
    close(vmap(lambda t: wg.fft.fftn(t, (3,)))(x), np.fft.fftn(COMPLEX, (3,), (2,)))
    close(vmap(lambda t: wg.fft.fft2(t))(x), np.fft.fft2(COMPLEX))
    close(vmap(wg.fft.fftshift)(x), np.fft.fftshift(COMPLEX, (1, 2)))


def test_results_are_private_memory():
    x = wg.tensor(REAL, requires_grad=True)
    spectrum = wg.fft.rfft(x)
    loss = (spectrum * spectrum.conj()).real.sum()
    loss.backward()
    spectrum.detach().mul_(2)
    assert x.grad is not None
    assert spectrum.is_contiguous()


def test_inputs_are_not_lent():
    x = wg.ones(4)
    version = x._version
    wg.fft.fft(x)
    x.mul_(2)
    assert x._version == version + 1
    assert x.tolist() == [2.0] * 4


def test_backward_on_several_threads():
    threads = wg.get_num_threads()
    wg.set_num_threads(2)
    try:
        x = wg.tensor(RNG.normal(size=(8, 256)), requires_grad=True)
        expected = None
        for _ in range(5):
            parts = [wg.fft.irfft(wg.fft.rfft(row * k)) for k, row in enumerate(x.unbind(0), 1)]
            (gradient,) = wg.autograd.grad(sum(p.square().sum() for p in parts), x)
            expected = gradient if expected is None else expected
            assert wg.equal(gradient, expected)
    finally:
        wg.set_num_threads(threads)


def test_transforms_on_python_threads():
    results = {}

    def work(k):
        x = wg.tensor(REAL * k, requires_grad=True)
        for _ in range(20):
            wg.fft.fftn(x).abs().sum().backward()
        results[k] = x.grad

    workers = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert sorted(results) == [1, 2, 3, 4]
    np.testing.assert_allclose(results[1].numpy(), results[4].numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("action", "error", "match"),
    [
        (lambda: wg.fft.fft(wg.ones(3), 0), RuntimeError, r"Invalid number of data points \(0\) specified"),
        (lambda: wg.fft.fft(wg.ones(3), dim=1), IndexError, "Dimension out of range"),
        (lambda: wg.fft.fft(wg.ones(3), norm="no"), RuntimeError, "Invalid normalization mode"),
        (lambda: wg.fft.rfft(wg.ones(3, dtype=wg.complex64)), RuntimeError, "expects a real input tensor"),
        (lambda: wg.fft.fftn(wg.ones(3, 3), (2,), (0, 1)), RuntimeError, "must have the same length"),
        (lambda: wg.fft.fftn(wg.ones(3, 3), dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda: wg.fft.fftn(wg.ones(3), (2, 2)), RuntimeError, "Got shape with 2 values"),
        (lambda: wg.fft.rfftn(wg.ones(3), dim=()), RuntimeError, "must transform at least one axis"),
        (lambda: wg.fft.fft(wg.zeros(3, 0)), RuntimeError, "Invalid number of data points"),
        (lambda: wg.fft.irfft(wg.ones(1)), RuntimeError, "Invalid number of data points"),
    ],
)
def test_misuse(action, error, match):
    with pytest.raises(error, match=match):
        action()
