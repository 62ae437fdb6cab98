// Negative log likelihood: picks one class of each position, weights, and reduces.
//
// self [N, C, d1, ...] or [C]; target, int64, the same without the classes. Both functions are linear in their first argument,
// and each is the transpose of the other.
#pragma once

#include <string_view>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::kernels {

// (loss, the sum of the weights of all targets). Targets equal to ignore_index count for nothing; weight [C] or undefined.
// reduction: "none", "sum", or "mean", which divides by that sum.
std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target, const Tensor& weight,
                                            std::string_view reduction, int64_t ignore_index);
Tensor nll_loss_backward(const Tensor& grad, const Tensor& target, const Tensor& weight, std::string_view reduction,
                         int64_t ignore_index, const Tensor& total_weight, IntSpan sizes);

}  // namespace wengert::kernels
