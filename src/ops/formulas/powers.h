// Powers between 0 and 1 of 0 (ops/formulas/cusps/powers.cpp), and integer powers that are none.
#pragma once

#include "graph/saved_variable.h"
#include "tensor/operand.h"

namespace wengert::ops::formulas {

// Whether a power with that exponent is a root, with an infinite derivative at 0.
bool is_fraction(const Scalar& exponent);
bool is_fraction(const SavedOperand& exponent);

// Raises for an integer number as exponent that would leave the integers.
inline void no_negative_power(const Tensor& self, const Scalar& exponent) {
    check(!is_integral(self.dtype()) || exponent.kind() != Category::Integral || exponent.to<int64_t>() >= 0,
          ErrorKind::Runtime, "Integers to negative integer powers are not allowed.");
}

// `product`, the cotangent or tangent times p s**(p - 1), with its limit where that is 0 / 0.
Tensor power_limit(const Tensor& product, const Tensor& cotangent, const Operand& s, const Operand& exponent);
Tensor power_tangent(const Tensor& product, const Tensor& tangent, const Operand& s, const Operand& exponent,
                     const Tensor& result);

}  // namespace wengert::ops::formulas
