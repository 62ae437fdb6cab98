// Activation functions that are no single elementwise expression.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor gelu_by_name(const Tensor& self, std::string_view approximate);
// The first half along `dim`, gated by the logistic function of the second.
Tensor gated_halves(const Tensor& self, int64_t dim);
// `weight` has one element, or one for each channel: dimension 1 of `self`.
Tensor prelu_by_channel(const Tensor& self, const Tensor& weight);

}  // namespace wengert::ops::formulas
