#include "generated/ops/formulas/spectrogram.h"

#include "base/checked_math.h"
#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/formulas/fft.h"
#include "generated/ops/operators.h"
#include "generated/ops/queries.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/resize.h"
#include "generated/ops/views.h"
#include "graph/batched.h"
#include "graph/grad_mode.h"
#include "kernels/creation.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/on_host.h"
#include "ops/known_values.h"

namespace wengert::ops::formulas {
namespace {

// How far windows lie apart and how long they are, checked.
struct Windows {
    int64_t hop, length;
};
Windows windows(const char* name, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
                const Tensor& window) {
    const Windows w{hop_length.value_or(n_fft / 4), win_length.value_or(n_fft)};
    check(w.hop > 0, ErrorKind::Runtime, name, ": expected hop_length > 0, but got hop_length=", w.hop);
    check(0 < w.length && w.length <= n_fft, ErrorKind::Runtime, name,
          ": expected 0 < win_length <= n_fft, but got win_length=", w.length);
    if (window.defined())
        check(window.sizes() == Dims{w.length}, ErrorKind::Runtime, name,
              ": expected a 1D window tensor of size equal to win_length=", w.length, ", but got window with size ",
              ShapeOf{window.sizes()});
    return w;
}

// The window with zeros on both sides, [n_fft].
Tensor whole_window(const Tensor& window, int64_t length, int64_t n_fft, const Tensor& of) {
    const Tensor given = window.defined() ? window : kernels::ones(Dims{length}, beside(of, real_dtype(of.dtype())));
    const int64_t left = (n_fft - length) / 2;
    return length < n_fft ? ops::pad(given, Dims{left, n_fft - length - left}) : given;
}

constexpr std::string_view norm_of(bool normalized) { return normalized ? "ortho" : "backward"; }

}  // namespace

Tensor spectra_of_windows(const Tensor& input, int64_t n_fft, std::optional<int64_t> hop_length,
                          std::optional<int64_t> win_length, const Tensor& window, bool center,
                          std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
                          std::optional<bool> return_complex) {
    const auto [hop, length] = windows("stft", n_fft, hop_length, win_length, window);
    check(return_complex || is_complex(input.dtype()) || (window.defined() && is_complex(window.dtype())),
          ErrorKind::Runtime,
          "stft requires the return_complex parameter be given for real inputs, and will further require that "
          "return_complex=True in a future PyTorch release.");
    check(input.dim() == 1 || input.dim() == 2, ErrorKind::Runtime,
          "stft: expected a 1D or 2D tensor of signals, but got shape ", ShapeOf{input.sizes()});
    Tensor signal = input.dim() == 2 ? input : ops::unsqueeze(input, 0);
    if (center) signal = ops::squeeze_dim(ops::pad(ops::unsqueeze(signal, 1), Dims{n_fft / 2, n_fft / 2}, pad_mode), 1);
    check(0 < n_fft && n_fft <= signal.size(1), ErrorKind::Runtime, "stft: expected 0 < n_fft <= ", signal.size(1),
          ", but got n_fft=", n_fft);
    Tensor frames = ops::unfold(signal, 1, n_fft, hop);  // [batch, windows, n_fft]
    if (window.defined() || length < n_fft) frames = frames * whole_window(window, length, n_fft, frames);
    const bool half = onesided.value_or(!is_complex(frames.dtype()));
    check(!half || !is_complex(frames.dtype()), ErrorKind::Runtime,
          "Cannot have onesided output if window or input is complex");
    const auto transform = half ? half_line : complex_line;
    Tensor spectra = ops::transpose(transform(frames, std::nullopt, -1, norm_of(normalized), true), 1, 2);
    if (input.dim() == 1) spectra = ops::squeeze_dim(spectra, 0);
    return return_complex.value_or(true) ? spectra : ops::view_as_real(spectra);
}

Tensor signal_of_spectra(const Tensor& input, int64_t n_fft, std::optional<int64_t> hop_length,
                         std::optional<int64_t> win_length, const Tensor& window, bool center, bool normalized,
                         std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex) {
    const auto [hop, width] = windows("istft", n_fft, hop_length, win_length, window);
    check(is_complex(input.dtype()), ErrorKind::Runtime,
          "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
    const Tensor spectra = input.dim() == 3 ? input : ops::unsqueeze(input, 0);
    const bool half = onesided.value_or(!return_complex);
    const int64_t expected = half ? n_fft / 2 + 1 : n_fft;
    check(spectra.dim() == 3 && spectra.size(1) == expected, ErrorKind::Runtime,
          "istft: expected the frequency dimension (3rd to the last) of the input tensor to match the FFT size: ",
          expected, ", but got shape ", ShapeOf{input.sizes()});
    Tensor frames = ops::transpose(spectra, 1, 2);  // [batch, windows, frequencies]
    if (half) {
        frames = real_line(frames, n_fft, -1, norm_of(normalized), false);
    } else {
        frames = complex_line(frames, std::nullopt, -1, norm_of(normalized), false);
        if (!return_complex) frames = ops::real(frames);
    }
    const Tensor shape = whole_window(window, width, n_fft, frames);
    const int64_t count = frames.size(1);
    const int64_t size = checked_add(n_fft, checked_mul(hop, count - 1, "istft"), "istft");
    Tensor total = ops::unfold_backward(frames * shape, Dims{frames.size(0), size}, 1, n_fft, hop);
    Tensor energy = ops::unfold_backward(ops::contiguous(ops::expand(shape * shape, Dims{1, count, n_fft})),
                                         Dims{1, size}, 1, n_fft, hop);
    const int64_t start = center ? n_fft / 2 : 0, end = length ? checked_add(start, *length, "istft") : size - start;
    total = ops::slice(total, 1, start, end);
    energy = ops::slice(energy, 1, start, end);
    {
        const NoGradGuard no_grad;
        check(ops::are_all_true(ops::gt(ops::abs(unbatched(energy)), 1e-11)), ErrorKind::Runtime,
              "istft: window overlap add min: 0; the windows leave gaps in the signal, or begin with zeros");
    }
    Tensor signal = total / energy;
    if (end > size) signal = ops::pad(signal, Dims{0, end - size});
    return input.dim() == 3 ? signal : ops::squeeze_dim(signal, 0);
}

}  // namespace wengert::ops::formulas
