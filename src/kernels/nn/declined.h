// Fused backward kernels return whether all that they met was finite. Where it was not they decline, the results are undefined,
// and the formula decides (ops/generated_support.h, has_declined). Elements without values (meta) are never found to be so.
#pragma once

#include "tensor/backend.h"

namespace wengert::kernels {

inline bool has_values(const Tensor& t) { return !is_off_host(t) || backend_of(t.device()).has_memory(); }

}  // namespace wengert::kernels
