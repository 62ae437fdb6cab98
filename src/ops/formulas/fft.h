// Fourier transforms: the transposes of those between real and complex numbers, and the public functions.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor fft_r2c_grad(const Tensor& grad, IntSpan sizes, IntSpan dim, int64_t normalization, bool onesided);
Tensor fft_c2r_grad(const Tensor& grad, IntSpan dim, int64_t normalization, DType dtype);

// --- Along one dimension: complex to complex, real to half of the frequencies, half of the frequencies to real.
Tensor complex_line(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                    bool forward);
Tensor half_line(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                 bool forward);
Tensor real_line(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                 bool forward);

// --- Along several
inline std::optional<Dims> these(IntSpan dims) { return Dims(dims); }
Tensor complex_grid(const Tensor& self, const std::optional<Dims>& s, const std::optional<Dims>& dim,
                    std::optional<std::string_view> norm, bool forward);
Tensor half_grid(const Tensor& self, const std::optional<Dims>& s, const std::optional<Dims>& dim,
                 std::optional<std::string_view> norm, bool forward);
Tensor real_grid(const Tensor& self, const std::optional<Dims>& s, const std::optional<Dims>& dim,
                 std::optional<std::string_view> norm, bool forward);

Tensor halves_exchanged(const Tensor& self, const std::optional<Dims>& dim, bool inverse);

}  // namespace wengert::ops::formulas
