// Dual tensors.
#pragma once

#include <utility>

#include "tensor/tensor.h"

namespace wengert::python {

// Whether elements of an expanded tensor share memory.
bool overlaps_itself(const Tensor& t) noexcept;
// An alias of `primal` that carries `tangent`, checked.
Tensor make_dual_at(const Tensor& primal, const Tensor& tangent, int32_t level);
// Primal and tangent, which is undefined if there is none.
std::pair<Tensor, Tensor> unpack_dual_at(const Tensor& dual, int32_t level);

}  // namespace wengert::python
