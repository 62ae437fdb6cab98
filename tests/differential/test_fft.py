"""Fourier transforms of both packages: values, dtypes, gradients, errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(3)
REAL = RNG.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 4, 5))
OF_REAL = ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn")


def numpy(t):
    return t.detach().resolve_conj().numpy()


def agree(name, array, *arguments):
    ours, theirs = wg.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)
    result, expected = getattr(wg.fft, name)(ours, *arguments), getattr(torch.fft, name)(theirs, *arguments)
    assert str(result.dtype) == str(expected.dtype).replace("torch", "wengert")
    np.testing.assert_allclose(numpy(result), numpy(expected), rtol=1e-10, atol=1e-11)
    weights = np.cos(np.arange(expected.numel())).reshape(expected.shape) * (1 + 0.5j if expected.is_complex() else 1)
    result.backward(wg.tensor(weights))
    expected.backward(torch.tensor(weights))
    np.testing.assert_allclose(numpy(ours.grad), numpy(theirs.grad), rtol=1e-10, atol=1e-11)


def arrays(name):
    return (REAL,) if name in OF_REAL else (REAL, COMPLEX)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dimension(name):
    for array, n, dim, norm in itertools.product(arrays(name), (None, 2, 5, 6), (-1, 1), (None, "ortho", "forward")):
        agree(name, array, n, dim, norm)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"])
def test_planes(name):
    for array, s, dim, norm in itertools.product(
        arrays(name), (None, (2, 5), (6, -1)), ((-2, -1), (2, 0)), (None, "ortho", "forward")
    ):
        agree(name, array, s, dim, norm)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
def test_grids(name):
    options = [(None, None), ((4,), None), ((2, 6), None), (None, (0, 2)), ((5, 3, 2), (2, 0, 1)), ((-1, 7), (1, 2))]
    for array, (s, dim), norm in itertools.product(arrays(name), options, (None, "ortho", "forward")):
        agree(name, array, s, dim, norm)


@pytest.mark.parametrize("dim", [None, 1, (0, -1)])
def test_shifts(dim):
    agree("fftshift", COMPLEX, dim)
    agree("ifftshift", REAL, dim)


@pytest.mark.parametrize("n", [1, 4, 7])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        np.testing.assert_allclose(
            getattr(wg.fft, name)(n, 0.3).numpy(), getattr(torch.fft, name)(n, 0.3).numpy(), rtol=1e-6
        )


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda tc: tc.fft.fft(tc.ones(3), 0), "Invalid number of data points (0) specified"),
        (lambda tc: tc.fft.fft(tc.ones(3), dim=1), "Dimension out of range"),
        (lambda tc: tc.fft.fft(tc.ones(3), norm="no"), "Invalid normalization mode"),
        (lambda tc: tc.fft.rfft(tc.ones(3, dtype=tc.complex64)), "expects a real input tensor"),
        (lambda tc: tc.fft.fftn(tc.ones(3, 3), (2,), (0, 1)), "must have the same length"),
        (lambda tc: tc.fft.fftn(tc.ones(3, 3), dim=(0, 0)), "FFT dims must be unique"),
        (lambda tc: tc.fft.fftn(tc.ones(3), (2, 2)), "Got shape with 2 values but input tensor only has 1 dimensions"),
        (lambda tc: tc.fft.rfftn(tc.ones(3), dim=()), "must transform at least one axis"),
    ],
)
def test_errors(call, fragment):
    for package in (torch, wg):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            call(package)
        assert fragment in str(caught.value)
        if package is torch:
            expected = type(caught.value)
    assert type(caught.value) is expected


def test_short_time_transforms():
    signal = RNG.normal(size=(2, 40))
    for window, center, normalized, hop, length in itertools.product(
        (None, "hann_window"), (True, False), (True, False), (None, 3), (8, 6)
    ):
        if window and not center:
            continue  # its first element is 0
        pair = []
        for tc in (wg, torch):
            x = tc.tensor(signal, requires_grad=True)
            w = getattr(tc, window)(length, dtype=tc.float64) if window else None
            options = {
                "hop_length": hop,
                "win_length": length,
                "window": tc.ones(length, dtype=tc.float64) if w is None else w,
                "center": center,
                "normalized": normalized,
            }
            spectra = tc.stft(x, 8, **options, return_complex=True)
            if length == 8 or center:
                back = tc.istft(spectra * 2, 8, **options)
                back.square().sum().backward()
            else:
                back = spectra
                spectra.abs().square().sum().backward()
            pair.append((spectra, back, x.grad))
        for ours, theirs in zip(*pair, strict=True):
            np.testing.assert_allclose(numpy(ours), numpy(theirs), rtol=1e-9, atol=1e-10)
    x = wg.tensor(signal[0])
    np.testing.assert_allclose(
        numpy(x.stft(8, return_complex=False, onesided=False, center=False)),
        numpy(torch.tensor(signal[0]).stft(8, return_complex=False, onesided=False, center=False)),
        rtol=1e-9,
        atol=1e-10,
    )


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_windows(length, periodic):
    for name, options in (
        ("hann_window", {}),
        ("hamming_window", {}),
        ("hamming_window", {"alpha": 0.5, "beta": 0.3}),
        ("blackman_window", {}),
        ("bartlett_window", {}),
        ("kaiser_window", {"beta": 5.0}),
    ):
        ours = getattr(wg, name)(length, periodic, **options, dtype=wg.float64)
        theirs = getattr(torch, name)(length, periodic, **options, dtype=torch.float64)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6, atol=1e-7)
