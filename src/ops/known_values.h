// What formulas must know of elements before they go on. Where a tensor has a mode of its own, the mode is asked; where
// elements have no values (meta) nothing is found, so that what is mended where it is necessary stays as it is.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops {

// Of a tensor with one element; an error where that has no value.
Scalar value_of(const Tensor& one);
bool is_true(const Tensor& one);
bool is_any_true(const Tensor& mask);
bool are_all_true(const Tensor& mask);
bool all_finite(const Tensor& t);

}  // namespace wengert::ops
