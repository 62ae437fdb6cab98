// A tensor with room around it, or with less of it.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

// How many of the last dimensions `pad` speaks of: how much before and after the last one, the one before it, and so on.
int64_t padded_dims(const char* op, const Tensor& self, IntSpan pad);

// `value`, in the dtype of `self`, around it; negative numbers cut off.
Tensor constant_pad_nd(const Tensor& self, IntSpan pad, const Scalar& value = 0);

}  // namespace wengert::kernels
