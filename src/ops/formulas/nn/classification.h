// Losses of classes that are compositions.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// `target`: classes (integers) or probabilities (of the shape of `input`).
Tensor cross_entropy_of(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                        std::string_view reduction, double label_smoothing);

// cross_entropy of x W^T + b, whose scores are not held where targets are classes.
Tensor linear_cross_entropy_of(const Tensor& input, const Tensor& linear_weight, const Tensor& target,
                               const Tensor& linear_bias, const Tensor& weight, std::string_view reduction,
                               std::optional<int64_t> ignore_index, double label_smoothing);
// Derivatives of kernels/nn/linear_nll.h that can themselves be differentiated; these hold the scores.
std::tuple<Tensor, Tensor, Tensor> linear_nll_grads(const Tensor& grad, const Tensor& input,
                                                    const Tensor& linear_weight, const Tensor& linear_bias,
                                                    const Tensor& target, int64_t ignore_index,
                                                    const std::array<bool, 3>& mask);
Tensor linear_nll_tangent(const Tensor& scores_t, const Tensor& input, const Tensor& linear_weight,
                          const Tensor& linear_bias, const Tensor& target, int64_t ignore_index);

// --- Margins, for [batch, classes] or [classes]: a loss for each sample
// By how much scores come within `margin` of the target's, to the power p.
Tensor multi_margin(const Tensor& input, const Tensor& target, int64_t p, double margin, const Tensor& weight);
// By how much those of other classes come within 1 of those of the labels, which stand before the first -1.
Tensor multilabel_margin(const Tensor& input, const Tensor& target);
// The mean over classes of the logistic loss of each.
Tensor multilabel_soft_margin(const Tensor& input, const Tensor& target, const Tensor& weight);

}  // namespace wengert::ops::formulas
