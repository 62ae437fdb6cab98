// Whether a tensor holds a NaN, what anomaly mode asks after every node; and whether it holds finite numbers only, what decides
// if a product is to be computed again with care (kernels/products/chain_products.h). Elements that have no values are no NaN, and finite.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

bool any_nan(const Tensor& t);
bool all_finite(const Tensor& t);  // of a floating dtype

}  // namespace wengert::kernels
