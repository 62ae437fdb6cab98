// Negative log likelihood of classes whose scores are a linear map of the input: nll_loss(log_softmax(x W^T + b)).
//
// With many classes the scores are by far the largest tensor of a model. They are never held here: both passes compute them
// for as many rows as fit a few megabytes, and drop them again.
#pragma once

#include <array>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::kernels {

// input [N, K], weight [C, K], bias [C] or undefined, target [N] -> [N]; 0 where the target is ignore_index.
Tensor linear_nll(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& target,
                  int64_t ignore_index);
// Gives nothing where a result is not finite.
std::tuple<Tensor, Tensor, Tensor> linear_nll_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                       const Tensor& bias, const Tensor& target, int64_t ignore_index,
                                                       const std::array<bool, 3>& output_mask);

}  // namespace wengert::kernels
