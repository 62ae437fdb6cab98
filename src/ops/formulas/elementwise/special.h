// Special functions that are sums of others.
#pragma once

#include "tensor/tensor.h"

namespace wengert::ops::formulas {

// log Gamma_p(x) = p (p - 1) / 4 log(pi) + the sum of log Gamma(x - j / 2), j = 0 .. p - 1
Tensor multivariate_lgamma(const Tensor& self, int64_t p);

}  // namespace wengert::ops::formulas
