// Powers between 0 and 1 of 0 (ops/formulas/cusps/powers.cpp).
#pragma once

#include "graph/saved_variable.h"
#include "tensor/operand.h"

namespace wengert::ops::formulas {

// Whether a power with that exponent is a root, with an infinite derivative at 0.
bool is_fraction(const Scalar& exponent);
bool is_fraction(const SavedOperand& exponent);

// `product`, the cotangent or tangent times p s**(p - 1), with its limit where that is 0 / 0.
Tensor power_limit(const Tensor& product, const Tensor& cotangent, const Operand& s, const Operand& exponent);
Tensor power_tangent(const Tensor& product, const Tensor& tangent, const Operand& s, const Operand& exponent,
                     const Tensor& result);

}  // namespace wengert::ops::formulas
