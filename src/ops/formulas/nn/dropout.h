// Dropout: multiplication by a random mask.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// `by_channel`: one decision for each channel of [N, C, ...].
Tensor dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel);
Tensor alpha_dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel);

}  // namespace wengert::ops::formulas
