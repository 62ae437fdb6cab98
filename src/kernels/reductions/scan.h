// Scans: every prefix of a dimension reduced. Shapes are the input's; integral sums and products are int64 unless
// `dtype` says otherwise; float32 accumulates in double. cummax and cummin keep NaN once met, and of equal elements
// the last gives the index, as in PyTorch.
#pragma once

#include <optional>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::kernels {

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype = {});
Tensor logcumsumexp(const Tensor& self, int64_t dim);
// The gradient of cumprod, whose result gives the dtype: exact where elements are zero.
Tensor cumprod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim);
std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim);

// [..., count]: the powers 0, 1, ... of each element.
Tensor powers(const Tensor& self, int64_t count);

// Of each element of a row, along the last dimension, the product of all others. Among finite elements 0 times anything is 0.
Tensor products_of_others(const Tensor& self);

}  // namespace wengert::kernels
