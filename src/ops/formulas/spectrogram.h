// The short-time Fourier transform and its inverse, of [time] or [batch, time].
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor spectra_of_windows(const Tensor& signal, int64_t n_fft, std::optional<int64_t> hop_length,
                          std::optional<int64_t> win_length, const Tensor& window, bool center,
                          std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
                          std::optional<bool> return_complex);
// In the sense of least squares.
Tensor signal_of_spectra(const Tensor& spectra, int64_t n_fft, std::optional<int64_t> hop_length,
                         std::optional<int64_t> win_length, const Tensor& window, bool center, bool normalized,
                         std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex);

}  // namespace wengert::ops::formulas
