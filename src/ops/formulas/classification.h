// Losses of classes that are compositions.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// `target`: classes (integers) or probabilities (of the shape of `input`).
Tensor cross_entropy_of(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                        std::string_view reduction, double label_smoothing);

}  // namespace wengert::ops::formulas
