// Random tensors, and dropout.
#pragma once

#include <optional>

#include "tensor/operand.h"

namespace wengert {
class Generator;
}

namespace wengert::ops::formulas {

Tensor uniform_like(const Tensor& self, std::optional<DType> dtype, Generator* generator);
Tensor normal_like(const Tensor& self, std::optional<DType> dtype, Generator* generator);
Tensor integers_like(const Tensor& self, int64_t low, int64_t high, std::optional<DType> dtype, Generator* generator);
Tensor ones_of_probability(const Tensor& self, double p, Generator* generator);
Tensor normal_of(const Operand& mean, const Operand& std, Generator* generator);  // without history

// `by_channel`: one decision for each channel of [N, C, ...].
Tensor dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel);
Tensor alpha_dropped(const Tensor& input, double p, bool training, bool inplace, bool by_channel);

}  // namespace wengert::ops::formulas
