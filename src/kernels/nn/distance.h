// Distances between rows in the p-norm, 0 <= p <= inf (p = 0 counts differing elements).
//
// Differences are taken before they are squared: distances of near points keep their digits. The derivative at coincident
// points, where the norm has a kink (or worse, for p < 1), is zero.
#pragma once

#include <tuple>

#include "tensor/tensor.h"

namespace wengert::kernels {

Tensor cdist(const Tensor& x1, const Tensor& x2, double p);  // [...,m,d] and [...,n,d] -> [...,m,n]; batches broadcast
// The cotangents of x1 and x2, of the broadcast batch (the caller sums to the operands' shapes).
std::tuple<Tensor, Tensor> cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                                          const Tensor& cdist);
Tensor pdist(const Tensor& self, double p);  // [n,d] -> [n(n-1)/2]: rows of the upper triangle of cdist(self, self)
Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist);

}  // namespace wengert::kernels
