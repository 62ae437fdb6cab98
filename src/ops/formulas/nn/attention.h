// Attention, composed.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, double dropout_p,
                 bool is_causal, std::optional<double> scale, bool grouped_heads);

}  // namespace wengert::ops::formulas
