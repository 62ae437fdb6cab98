// Derivative formulas of views.
#pragma once

#include <optional>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Dims inverse_permutation(IntSpan dims);
Tensor unbind_grad(TensorSpan grads, IntSpan sizes, DType dtype, int64_t dim);
// Of as_strided(size, stride, storage_offset) of a tensor with the geometry (sizes, strides, offset).
Tensor as_strided_grad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                       std::optional<int64_t> storage_offset);
Tensor as_strided_regrad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                         int64_t storage_offset);

}  // namespace wengert::ops::formulas
