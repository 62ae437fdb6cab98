// Layers that draw random numbers.
#pragma once

#include "tensor/tensor.h"

namespace wengert {
class Generator;
}

namespace wengert::ops::formulas {

// --- Dropout: multiplication by a random mask
// `by_channel`: one decision for each channel of [N, C, ...].
Tensor dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel);
Tensor alpha_dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel);

// --- Others
// leaky_relu with a slope that is drawn for each element in training, and the mean slope otherwise.
Tensor leaky_by_chance(const Tensor& input, double lower, double upper, bool training, bool inplace,
                       Generator* generator);
// Softmax of logits with noise of Gumbel: a differentiable sample of classes (Jang et al. 2016).
Tensor sampled_softmax(const Tensor& logits, double temperature, bool hard, int64_t dim, Generator* generator);

}  // namespace wengert::ops::formulas
