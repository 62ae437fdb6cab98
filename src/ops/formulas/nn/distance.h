// Derivatives of distances between rows: those of a norm of differences (norms.h).
#pragma once

#include <array>
#include <tuple>

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

Tensor distances(const Tensor& x1, const Tensor& x2, double p);
std::tuple<Tensor, Tensor> cdist_grads(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                                       const Tensor& result, const std::array<bool, 2>& mask);
// Along a tangent of x1 (which = 0) or of minus x2 (which = 1).
Tensor cdist_tangent(const Tensor& tangent, int64_t which, const Tensor& x1, const Tensor& x2, double p,
                     const Tensor& result);
Tensor pdist_grad(const Tensor& grad, const Tensor& self, double p, const Tensor& result);
Tensor pdist_tangent(const Tensor& tangent, const Tensor& self, double p, const Tensor& result);

}  // namespace wengert::ops::formulas
