// Whether a tensor holds a NaN; what anomaly mode asks after every node.
#pragma once

#include "tensor/tensor.h"

namespace wengert::kernels {

bool any_nan(const Tensor& t);

}  // namespace wengert::kernels
