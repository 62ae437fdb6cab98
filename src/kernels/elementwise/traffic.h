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

// As run_as where all operands are constants, the first a large one: the result is a constant as well. Undefined where they
// are not, or where somebody would see the difference.
Tensor constant_result(DType compute, const Kernel& kernel, Operands inputs);
// Set by the engine: whether results of the node that is running may be constants.
inline bool (*constants_may_stay)() noexcept = nullptr;

}  // namespace wengert::kernels
