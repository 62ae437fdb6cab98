// Pieces of loss functions.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor reduce_loss(const Tensor& loss, std::string_view reduction);

}  // namespace wengert::ops::formulas
