// Pseudoinverses from singular values.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace wengert::kernels {

// Singular values up to max(atol, rtol * the greatest one) count as zero. rtol: max(m, n) times the dtype's epsilon by
// default, unless atol is given.
Tensor linalg_pinv(const Tensor& self, double atol, std::optional<double> rtol);

}  // namespace wengert::kernels
