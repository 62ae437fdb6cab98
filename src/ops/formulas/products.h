// Products of tensors that are compositions of matrix products: every order and mode follows.
#pragma once

#include <string_view>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor outer_product(const Tensor& self, const Tensor& vec2);

}  // namespace wengert::ops::formulas
