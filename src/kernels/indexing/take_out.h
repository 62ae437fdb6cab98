// Moves elements out of a tensor.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

// The elements of `t` that this geometry shows, as as_strided; zeros stay behind.
Tensor take_out(const Tensor& t, IntSpan sizes, IntSpan strides, int64_t offset);

}  // namespace wengert::kernels
