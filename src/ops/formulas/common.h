// Pieces of derivative formulas that many operations share.
#pragma once

#include <optional>

#include "tensor/operand.h"
#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor zeros_like(const Tensor& t);
// A (co)tangent times a partial derivative: 0 where either is 0, even if the other is not finite. In strict mode
// (graph/strict_singular.h) a plain product.
Tensor chain_rule(const Operand& cotangent, const Operand& partial);
// The same, but only where the first is 0: an infinite one times a partial of 0 is NaN.
Tensor one_sided_product(const Tensor& cotangent, const Operand& partial);
bool is_number(const Operand& o);
inline bool is_complex_dtype(DType dtype) { return is_complex(dtype); }
// A (co)tangent in the shape and dtype of what it belongs to: sums where it was broadcast, broadcasts where it is smaller.
Tensor fitted(const Tensor& t, IntSpan sizes, DType dtype);
// As `fitted`, but `grad` itself where it fits: for cotangents, which may be shared.
Tensor fitted_gradient(const Tensor& grad, IntSpan sizes, DType dtype);
// The transpose of a sum: `grad` of a reduction over `dim` (all dimensions if none is given) in the shape before it.
Tensor expand_reduced(const Tensor& grad, IntSpan sizes, const std::optional<Dims>& dim, bool keepdim);

}  // namespace wengert::ops::formulas
