// Convolutions by name, and how a bias takes part in them.
#pragma once

#include <string_view>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

// `dim` is that of the weight: two more than there are positions' dimensions. [O] <-> [(N,) O, positions...]
Tensor bias_grad(const Tensor& grad, int64_t dim);
Tensor bias_over_positions(const Tensor& bias, int64_t dim);

Tensor conv(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding,
            IntSpan dilation, int64_t groups);
Tensor conv_padded(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                   std::string_view padding, IntSpan dilation, int64_t groups);
Tensor transposed_conv(int64_t n, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                       IntSpan padding, IntSpan output_padding, int64_t groups, IntSpan dilation);

}  // namespace wengert::ops::formulas
