#include "ops/formulas/complex.h"

#include "generated/ops/ops.h"
#include "ops/formulas/common.h"

namespace wengert::ops::formulas {

Tensor real_grad(const Tensor& grad, DType dtype) {
    return is_complex(dtype) ? ops::complex(grad, zeros_like(grad)) : grad;
}
Tensor imag_grad(const Tensor& grad) { return ops::complex(zeros_like(grad), grad); }

Tensor angle_grad(const Tensor& grad, const Tensor& self) {
    if (!is_complex(self.dtype())) return zeros_like(grad);
    // i / conj(z): a quotient of the complex numbers themselves, whose squares might overflow or vanish.
    Tensor partial = std::complex<double>(0, 1) / ops::conj(self);
    return ops::where(ops::eq(self, 0), 0, grad * partial);
}
Tensor angle_tangent(const Tensor& tangent, const Tensor& self) {
    if (!is_complex(self.dtype())) return zeros_like(tangent);
    return ops::imag(ops::where(ops::eq(self, 0), 0, tangent / self));
}

}  // namespace wengert::ops::formulas
