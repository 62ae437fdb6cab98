// Batching rules of products of matrices.
#pragma once

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// The product of samples of any ranks, or of the two ranks that a row gives. The second is that under the chain rule.
Tensor matrix_product(const Batch& batch, const Tensor& a, const Tensor& b);
Tensor matrix_product(const Batch& batch, const Tensor& a, const Tensor& b, int64_t rank_a, int64_t rank_b);
Tensor matrix_product_chain(const Batch& batch, const Tensor& a, const Tensor& b);

Tensor affine_map(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& bias);
Tensor distances_of_pairs(const Batch& batch, const Tensor& rows, double p);

}  // namespace wengert::ops::batching
