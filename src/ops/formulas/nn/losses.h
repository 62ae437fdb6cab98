// Pieces of loss functions.
#pragma once

#include <initializer_list>
#include <string_view>

#include "tensor/operand.h"

namespace wengert::ops::formulas {

Tensor reduce_loss(const Tensor& loss, std::string_view reduction);
// 'batchmean' too: the sum over the size of dimension 0 of `input`.
Tensor reduce_batch_loss(const Tensor& loss, const Tensor& input, std::string_view reduction);
// Of a kernel of tensors of these sizes, whose results `reduction` reduces: their tangents, reduced likewise, and the
// gradient of each.
Tensor reduced(const Tensor& tangents, std::string_view reduction, std::initializer_list<IntSpan> sizes);
Tensor unreduced(const Tensor& grad, std::string_view reduction, std::initializer_list<IntSpan> sizes);

// Undefined weights are 1.
Tensor cross_entropy_of_probabilities(const Tensor& input, const Tensor& target, const Tensor& weight,
                                      std::string_view reduction);
Tensor cross_entropy_of_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                               const Tensor& pos_weight, std::string_view reduction);
Tensor gaussian_nll(const Tensor& input, const Tensor& target, const Operand& var, bool full, double eps);
Tensor poisson_nll(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps);

Tensor cosine(const Tensor& x1, const Tensor& x2, int64_t dim, double eps);
Tensor triplet_margin(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p,
                      double eps, bool swap);

}  // namespace wengert::ops::formulas
