"""The short-time Fourier transform and its inverse."""

from __future__ import annotations

from typing import Any

import wengert
from wengert import _C
from wengert._C import Tensor


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping windows of a signal.

    Parameters
    ----------
    input : Tensor
        [time] or [batch, time]
    n_fft : int
        The number of points of each transform.
    hop_length : int, optional
        The distance of windows; ``n_fft // 4`` by default.
    win_length : int, optional
        The length of the window, which is padded with zeros to `n_fft`; `n_fft` by default.
    window : Tensor, optional
        [win_length]; ones by default.
    center : bool, default True
        Whether window t is centred at ``t * hop_length``, for which the signal is padded, instead of beginning there.
    pad_mode : str, default 'reflect'
        How, see `wengert.nn.functional.pad`.
    normalized : bool, default False
        Whether to divide by the root of `n_fft`.
    onesided : bool, optional
        Whether to leave out the redundant half of the frequencies; the default for real signals.
    return_complex : bool
        Whether to return complex numbers, instead of a last dimension of length 2.

    Returns
    -------
    Tensor
        [batch, frequencies, windows], without the batch for a single signal.

    Raises
    ------
    RuntimeError
        If the signal is too short, or sizes do not fit.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.stft(wg.ones(8), 4, hop_length=2, return_complex=True).shape
    wengert.Size([3, 5])
    """
    hop, length = _sizes("stft", n_fft, hop_length, win_length, window)
    if return_complex is None:
        if not (input.is_complex() or (window is not None and window.is_complex())):
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if input.ndim not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor of signals, but got shape {tuple(input.shape)}")
    signal = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        signal = wengert.nn.functional.pad(signal.unsqueeze(1), (n_fft // 2, n_fft // 2), pad_mode).squeeze(1)
    if not 0 < n_fft <= signal.shape[1]:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {signal.shape[1]}, but got n_fft={n_fft}")
    frames: Any = signal.unfold(1, n_fft, hop)  # [batch, windows, n_fft]
    if window is not None or length < n_fft:
        frames = frames * _padded(window, length, n_fft, signal)
    is_complex = frames.is_complex()
    half = not is_complex if onesided is None else onesided
    if half and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    transform = wengert.fft.rfft if half else wengert.fft.fft
    spectra = transform(frames, norm="ortho" if normalized else "backward").transpose(1, 2)
    if input.ndim == 1:
        spectra = spectra.squeeze(0)
    return spectra if return_complex else wengert.view_as_real(spectra)


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose short-time Fourier transform is given, in the sense of least squares.

    Parameters
    ----------
    input : Tensor
        [frequencies, windows] or [batch, frequencies, windows], complex.
    n_fft, hop_length, win_length, window, center, normalized, onesided
        As those of `stft`.
    length : int, optional
        The length of the signal.
    return_complex : bool, default False
        Whether the signal is complex.

    Returns
    -------
    Tensor
        [time] or [batch, time]

    Raises
    ------
    RuntimeError
        If the windows leave gaps, or sizes do not fit.

    Examples
    --------
    >>> import wengert as wg
    >>> spectra = wg.stft(wg.arange(8.0), 4, window=wg.hann_window(4), return_complex=True)
    >>> wg.istft(spectra, 4, window=wg.hann_window(4)).allclose(wg.arange(8.0), atol=1e-5)
    True
    """
    hop, width = _sizes("istft", n_fft, hop_length, win_length, window)
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    spectra: Any = input if input.ndim == 3 else input.unsqueeze(0)
    half = not return_complex if onesided is None else onesided
    expected = n_fft // 2 + 1 if half else n_fft
    if spectra.ndim != 3 or spectra.shape[1] != expected:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match the FFT size: "
            f"{expected}, but got shape {tuple(input.shape)}"
        )
    norm = "ortho" if normalized else "backward"
    frames: Any = spectra.transpose(1, 2)  # [batch, windows, frequencies]
    if half:
        frames = wengert.fft.irfft(frames, n_fft, norm=norm)
    else:
        frames = wengert.fft.ifft(frames, norm=norm)
        frames = frames if return_complex else frames.real
    shape = _padded(window, width, n_fft, frames)
    size = n_fft + hop * (frames.shape[1] - 1)
    total = _C._private.unfold_backward(frames * shape, [frames.shape[0], size], 1, n_fft, hop)
    energy = _C._private.unfold_backward(
        (shape * shape).expand(1, frames.shape[1], n_fft).contiguous(), [1, size], 1, n_fft, hop
    )
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else size - start
    total, energy = total[:, start:end], energy[:, start:end]
    if not bool((energy.detach().abs() > 1e-11).all()):
        raise RuntimeError(
            "istft: window overlap add min: 0; the windows leave gaps in the signal, or begin with zeros"
        )
    signal = total / energy
    if end > size:
        signal = wengert.nn.functional.pad(signal, (0, end - size))
    result: Tensor = signal if input.ndim == 3 else signal.squeeze(0)
    return result


def _sizes(name: str, n_fft: int, hop: Any, length: Any, window: Any) -> tuple[int, int]:
    hop = n_fft // 4 if hop is None else hop
    length = n_fft if length is None else length
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and tuple(window.shape) != (length,):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{tuple(window.shape)}"
        )
    return hop, length


def _padded(window: Any, length: int, n_fft: int, like: Any) -> Any:
    """Return the window with zeros on both sides, [n_fft]."""
    if window is None:
        dtype = like.real.dtype if like.is_complex() else like.dtype
        window = wengert.ones(length, dtype=dtype)
    left = (n_fft - length) // 2
    return wengert.nn.functional.pad(window, (left, n_fft - length - left)) if length < n_fft else window
