// What elements get that are equal to the result of a reduction.
#pragma once

#include "kernels/reductions/reduced_shape.h"

namespace wengert::kernels {

// In the shape of `self`: each gradient in equal parts at the elements that are equal to their result, NaN to NaN, and zeros
// elsewhere. `dim` and `keepdim` are those of the reduction. One pass for what takes formulas nine.
Tensor share_among_equals(const Tensor& grad, const Tensor& self, const Tensor& result, const OptionalDims& dim,
                          bool keepdim);

}  // namespace wengert::kernels
