#include "generated/ops/formulas/elementwise/elementwise.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "generated/ops/where.h"

namespace wengert::ops::formulas {

Tensor sgn_derivative(const Tensor& tangent, const Tensor& self, const Tensor& result) {
    if (!is_complex(self.dtype())) return zeros(tangent.sizes(), tangent.dtype(), tangent.device());
    // tangent - Re(tangent * conj(result)) * result, without taking the real part by itself.
    Tensor across = 0.5 * (tangent - ops::conj(tangent) * result * result);
    return ops::where(ops::eq(self, 0), 0, across / ops::abs(self));
}

Tensor in_double(const Operand& o) {
    const DType dtype = is_complex(o.dtype()) ? DType::Complex128 : DType::Float64;
    return o.is_tensor() ? ops::to_dtype(o.tensor(), dtype) : scalar_tensor(o.scalar(), dtype);
}

void no_negative_power(const Tensor& self, const Scalar& exponent) {
    check(!is_integral(self.dtype()) || exponent.kind() != Category::Integral || exponent.to<int64_t>() >= 0,
          ErrorKind::Runtime, "Integers to negative integer powers are not allowed.");
}

}  // namespace wengert::ops::formulas
