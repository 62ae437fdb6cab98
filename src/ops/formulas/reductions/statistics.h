// Statistics of observations.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// [variables, observations] -> [variables, variables]
Tensor covariance(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights);
Tensor correlation(const Tensor& self);

// The slices along `dim`, shrunk to the norm `maxnorm`.
Tensor renormed(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);

}  // namespace wengert::ops::formulas
