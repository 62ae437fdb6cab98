// Derivative formulas of elementwise operations that are no single expression.
#pragma once

#include "tensor/operand.h"

namespace wengert::ops::formulas {

// sgn(z) = z / |z| turns, but does not change its length: only the part of the (co)tangent at right angles to it counts.
// The formula is its own adjoint, so both modes use it. Zero for real numbers.
Tensor sgn_derivative(const Tensor& tangent, const Tensor& self, const Tensor& result);

// Raises for an integer number as exponent that would leave the integers.
inline void no_negative_power(const Tensor& self, const Scalar& exponent) {
    check(!is_integral(self.dtype()) || exponent.kind() != Category::Integral || exponent.to<int64_t>() >= 0,
          ErrorKind::Runtime, "Integers to negative integer powers are not allowed.");
}

Tensor in_double(const Operand& o);  // in float64 or complex128

}  // namespace wengert::ops::formulas
