// The lines of a tensor along one dimension. A 0-dimensional tensor is one line of one element.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

inline int64_t line_size(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.sizes()[dim]; }
inline int64_t line_stride(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.strides()[dim]; }

}  // namespace wengert::kernels
