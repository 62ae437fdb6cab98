// Pieces of derivative formulas that many operations share.
#pragma once

#include <optional>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor zeros_like(const Tensor& t);
// A (co)tangent in the shape and dtype of what it belongs to: sums where it was broadcast, broadcasts where it is smaller.
Tensor fitted(const Tensor& t, IntSpan sizes, DType dtype);
// `product`, a cotangent or tangent times the direction x / length, where lengths are not zero. Where one is, x / length does
// not exist; it counts as zero, a subgradient, but its own derivative is left infinite or NaN: that of length(x)**2 is not
// 0 there, and a wrong number would go unnoticed.
Tensor along_direction(const Tensor& product, const Tensor& t, const Tensor& x, const Tensor& length);
// The transpose of a sum: `grad` of a reduction over `dim` (all dimensions if none is given) in the shape before it.
Tensor expand_reduced(const Tensor& grad, IntSpan sizes, const std::optional<Dims>& dim, bool keepdim);

}  // namespace wengert::ops::formulas
