// Convolution in one, two or three dimensions.
//
// Three bilinear products make everything: the convolution itself, the one with the input's cotangent (which is also the
// transposed convolution) and the one with the weight's. Each is linear in both arguments and each one's derivatives are
// the other two, so gradients of any order need nothing else.
//
// Shapes, with n spatial dims: input [B, C, D1..Dn], weight [O, C/groups, K1..Kn], output [B, O, E1..En]; B may be missing.
// stride, padding and dilation have n elements, or one that counts for all. float32, float64 and complex.
#pragma once

#include <string_view>
#include <utility>

#include "tensor/tensor.h"

namespace wengert::kernels {

// bias [O] or undefined.
Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding,
                   IntSpan dilation, int64_t groups);
// The cotangent of `input` (of shape input_sizes), given the output's.
Tensor convolution_input(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes, IntSpan stride,
                         IntSpan padding, IntSpan dilation, int64_t groups);
// The cotangent of `weight`.
Tensor convolution_weight(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes, IntSpan stride,
                          IntSpan padding, IntSpan dilation, int64_t groups);

// The shape of a transposed convolution, input [B, C, D1..Dn], weight [C, O/groups, K1..Kn] -> [B, O, E1..En]: the
// input_sizes with which convolution_input computes it.
Dims conv_transpose_sizes(const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding,
                          IntSpan output_padding, int64_t groups, IntSpan dilation);

// padding="same" or "valid": what to add before and after, per spatial dim. "same" needs stride 1.
std::pair<Dims, Dims> convolution_padding(std::string_view mode, IntSpan weight_sizes, IntSpan stride,
                                          IntSpan dilation);

}  // namespace wengert::kernels
