// Derivative formulas of matrix products.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor matmul_grad_self(const Tensor& grad, const Tensor& self, const Tensor& other);
Tensor matmul_grad_other(const Tensor& grad, const Tensor& self, const Tensor& other);

}  // namespace wengert::ops::formulas
