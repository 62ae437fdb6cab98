// Dual tensors: a primal with its tangent at one level of forward mode (graph/forward_grad.h).
//
//     int32_t level = enter_dual_level();
//     Tensor y = f(make_dual(x, v, level));
//     Tensor jvp = unpack_dual(y, level).tangent;      // undefined where y does not depend on x
//     exit_dual_level(level);
#pragma once

#include "graph/forward_grad.h"

namespace wengert {

struct DualTensor {
    Tensor primal;
    Tensor tangent;  // undefined: there is none, which stands for zero
};

// An alias of `primal` that carries `tangent`, checked.
Tensor make_dual(const Tensor& primal, const Tensor& tangent, int32_t level);
DualTensor unpack_dual(const Tensor& dual, int32_t level);

// Whether elements of an expanded tensor share memory.
bool overlaps_itself(const Tensor& t) noexcept;

}  // namespace wengert
