// Derivative formulas of scans.
//
// The derivatives of products and of logcumsumexp are themselves scans, y[k] = a[k] y[k-1] + b[k]. `linear_scan` computes
// them without a division, so they hold where elements are zero, and as it is made of products and sums only, for
// derivatives of any order.
#pragma once

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

// y[k] = a[k] y[k-1] + b[k] along `dim`, y[-1] = 0. In log2(n) steps, each over all elements.
Tensor linear_scan(const Tensor& a, const Tensor& b, int64_t dim);
// The product of all elements before each one: 1, x0, x0 x1, ...
Tensor shifted_cumprod(const Tensor& x, int64_t dim);
// Whether no element is zero, subnormal, infinite or NaN: one may divide by it, and it lost no digits.
bool all_normal(const Tensor& t);
// exp(x - log_sum), where log_sum is at least x: 0 where both are -inf or log_sum alone is inf, 1 where both are inf.
Tensor exp_difference(const Tensor& x, const Tensor& log_sum);

Tensor reversed_cumsum(const Tensor& grad, int64_t dim);
Tensor cumprod_grad(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor cumprod_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim);
Tensor logcumsumexp_grad(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor logcumsumexp_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim);

Tensor differences(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append);
TensorList nonzero_as_tuple(const Tensor& self, bool as_tuple);

}  // namespace wengert::ops::formulas
