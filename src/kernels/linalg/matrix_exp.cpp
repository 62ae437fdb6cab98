// The matrix exponential and its derivatives.
#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"

namespace wengert::kernels {

using namespace linalg;

Tensor linalg_matrix_exp(const Tensor& self) {
    const char* op = "linalg.matrix_exp";
    check_square(self, op);
    lapack_int(rows(self), op);
    Tensor out = empty(self.sizes(), self.dtype(), self.device());
    if (out.numel() > 0) matrix_exp_kernel(out, self, Tensor());
    return out;
}

Tensor matrix_exp_along(const Tensor& self, const Tensor& directions) {
    const char* op = "matrix_exp_along";
    check_square(self, op);
    check(directions.dim() == self.dim() + 1 && directions.dtype() == self.dtype() &&
              IntSpan(directions.sizes()).last(2)[0] == rows(self) && cols(directions) == cols(self),
          ErrorKind::Runtime, "[matrix_exp_along] expected directions [..., k, n, n] for matrices ",
          ShapeOf{self.sizes()}, ", but got ", ShapeOf{directions.sizes()});
    lapack_int(rows(self), op);
    const int k = lapack_int(directions.size(-3), op);
    check(k <= 20, ErrorKind::Runtime, "[matrix_exp_along] derivatives of order ", k, " need 2^", k,
          " matrices; at most 20 directions");
    Tensor out = empty(self.sizes(), self.dtype(), self.device());
    if (out.numel() > 0) matrix_exp_kernel(out, self, directions);
    return out;
}

}  // namespace wengert::kernels
