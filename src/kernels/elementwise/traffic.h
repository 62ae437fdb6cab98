// Elementwise kernels on large gradients: what run_as (kernels/elementwise/elementwise.h) computes, with less traffic to
// memory.
#pragma once

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels {

// As run_as, and adds the result to `sum` as `add` would, block by block in the cache: the result is never in memory as a
// whole. Where others see `sum`, or it is a constant (tensor/constant.h), a new tensor takes its place, made of `reusable`
// where possible. False, and nothing has happened, where layouts or dtypes differ.
bool run_onto(Tensor& sum, DType compute, const Kernel& kernel, const Kernel& add, Operands inputs,
              const Tensor* reusable);

// As run_as where all operands are constants, the first of at least so many elements: the result is a constant as well.
// Undefined where they are not.
inline constexpr int64_t kFewestConstants = 1 << 13;  // it would not pay for fewer
Tensor constant_result(DType compute, const Kernel& kernel, Operands inputs);

}  // namespace wengert::kernels
