// A hash of elements, to see whether anything changed: not for cryptography.
#pragma once

#include "kernels/reductions/reduce.h"

namespace wengert::kernels {

// The exclusive or of the 64 bits of all elements, as float64 or int64, over `dim` or everything.
Tensor hash_tensor(const Tensor& self, const OptionalDims& dim, bool keepdim, int64_t mode);

}  // namespace wengert::kernels
