// Pooling by the number of dimensions.
#pragma once

#include <optional>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

int64_t length(IntSpan sizes);
Dims last_sizes(IntSpan sizes, int64_t n);

std::tuple<Tensor, Tensor> pool_with_indices(int64_t n, const Tensor& input, IntSpan kernel_size,
                                             const std::optional<Dims>& stride, IntSpan padding, IntSpan dilation,
                                             bool ceil_mode);
Tensor pool_averages(int64_t n, const Tensor& input, IntSpan kernel_size, const std::optional<Dims>& stride,
                     IntSpan padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);

// --- Compositions
// Roots of sums of powers over windows.
Tensor pool_powers(int64_t n, const Tensor& input, double power, IntSpan kernel_size, const std::optional<Dims>& stride,
                   bool ceil_mode);
// Maxima put back to where max pooling found them, with zeros elsewhere.
Tensor unpooled(const Tensor& maxima, const Tensor& indices, IntSpan kernel_size, const std::optional<Dims>& stride,
                IntSpan padding, const std::optional<Dims>& output_size);

}  // namespace wengert::ops::formulas
