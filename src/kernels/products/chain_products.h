// Products of tensors as the chain rule needs them: a factor that is exactly zero adds nothing, whatever it meets.
//
// What the loss does not read has the cotangent zero, and what a user does not vary the tangent zero. A sum of products like
// those of a matrix product would make NaN of it where the other factor is infinite or NaN: one such row of a batch would
// take the gradient of the weights with it. These functions are the products of the same names, with 0 * x = 0 for all x.
//
// On finite data nothing changes: the product is computed, and found to be finite. Only where it is not it is computed again
// with care: the product of the finite factors alone, and how many terms of a sum are infinite, of which sign, and NaN. These
// counts are products as well, of indicators, so that any bilinear map can be computed so.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

Tensor matmul_chain(const Tensor& self, const Tensor& other);

Tensor convolution_chain(const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding, IntSpan dilation,
                         int64_t groups);
Tensor convolution_input_chain(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes, IntSpan stride,
                               IntSpan padding, IntSpan dilation, int64_t groups);
Tensor convolution_weight_chain(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes, IntSpan stride,
                                IntSpan padding, IntSpan dilation, int64_t groups);

// Solutions of A X = B, linear in B: a column of zeros has the solution zero, also of a matrix that is singular or not
// finite. With a triangular A that holds for each unknown as it is found.
Tensor solve_chain(const Tensor& A, const Tensor& B);
Tensor solve_triangular_chain(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular);

}  // namespace wengert::kernels
