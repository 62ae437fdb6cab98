// The chain rule's products of tensors, for formulas of derivatives: one factor of each is linear in a cotangent or tangent,
// and where it is exactly zero it adds nothing, whatever it meets (kernels/products/chain_products.h). In strict mode
// (graph/strict_singular.h) they are the plain operations. `chain_rule` in common.h is the same for elements.
//
// Formulas of the table need not name them: operations that are products say so (`in_derivatives`).
#pragma once

#include <optional>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor chain_rule_matmul(const Tensor& self, const Tensor& other);  // of any rank
Tensor chain_rule_vdot(const Tensor& self, const Tensor& other);

Tensor chain_rule_convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                              IntSpan padding, IntSpan dilation, int64_t groups);
Tensor chain_rule_convolution_input(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                                    IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups);
Tensor chain_rule_convolution_weight(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes,
                                     IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups);

Tensor chain_rule_solve(const Tensor& A, const Tensor& B);  // linear in B
Tensor chain_rule_solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left = true,
                                   bool unitriangular = false);

// For formulas that are no products but deal with samples one by one (`sample: n` in the row): the first `batch_dims`
// dimensions of all are the batch. Where `value`, which is linear in the (co)tangents, is not finite, samples for which all of
// these are exactly zero get zero. (How it depends on such a cotangent is then not known: NaN, for those who ask.)
Tensor zero_where_unread(const Tensor& value, TensorSpan cotangents, int64_t batch_dims);

}  // namespace wengert::ops::formulas
