#include "generated/ops/formulas/elementwise/complex.h"

#include "generated/ops/comparison.h"
#include "generated/ops/complex.h"
#include "generated/ops/formulas/common.h"
#include "generated/ops/operators.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "graph/batched.h"

namespace wengert::ops::formulas {

Tensor pairs_as_complex(const Tensor& grad) {
    const bool lies_as_pairs = grad.is_contiguous() && grad.offset() % 2 == 0 && unbatched(grad).impl() == grad.impl();
    if (lies_as_pairs && !is_reduced_floating(grad.dtype())) return ops::view_as_complex(grad);
    return ops::complex(ops::select(grad, -1, 0), ops::select(grad, -1, 1));
}

Tensor real_grad(const Tensor& grad, DType dtype) {
    return is_complex(dtype) ? ops::complex(grad, zeros_like(grad)) : grad;
}
Tensor imag_grad(const Tensor& grad) { return ops::complex(zeros_like(grad), grad); }

Tensor angle_grad(const Tensor& grad, const Tensor& self) {
    if (!is_complex(self.dtype())) return zeros_like(grad);
    // i / conj(z): a quotient of the complex numbers themselves, whose squares might overflow or vanish.
    Tensor partial = std::complex<double>(0, 1) / ops::conj(self);
    return ops::where(ops::eq(self, 0), 0, chain_rule(grad, partial));
}
Tensor angle_tangent(const Tensor& tangent, const Tensor& self) {
    if (!is_complex(self.dtype())) return zeros_like(tangent);
    return ops::imag(ops::where(ops::eq(self, 0), 0, chain_rule(tangent, 1 / self)));
}

Tensor adjoint_view(const Tensor& self) {
    check(self.dim() != 1, ErrorKind::Runtime,
          "tensor.adjoint() is only supported on matrices or batches of matrices. Got ", self.dim(), "-D tensor.");
    const Tensor turned = self.dim() == 0 ? self : ops::transpose(self, -2, -1);
    return is_complex(self.dtype()) ? ops::conj(turned) : turned;
}

}  // namespace wengert::ops::formulas
