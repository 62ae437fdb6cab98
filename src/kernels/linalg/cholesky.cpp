// Cholesky factors, their gradient, and systems with triangular matrices.
#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"
#include "kernels/reductions/nan_check.h"

namespace wengert::kernels {

using namespace linalg;

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
    const char* op = "linalg.cholesky";
    check_square(self, op);
    lapack_int(cols(self), op);
    Tensor info = zero_info(self), out = row_major_copy(self);
    if (out.numel() > 0) cholesky_kernel(out, info, upper);
    if (check_errors)
        check_info(info, op, [](int32_t order) {
            return "The factorization could not be completed because the input is not positive-definite (the leading "
                   "minor of order " +
                   std::to_string(order) + " is not positive-definite).";
        });
    return {out, info};
}

Tensor linalg_cholesky(const Tensor& self, bool upper) { return std::get<0>(linalg_cholesky_ex(self, upper, true)); }

Tensor cholesky_inverse(const Tensor& factor, bool upper) {
    lapack_int(cols(factor), "cholesky_inverse");
    check_inexact(factor, "cholesky_inverse");
    const Tensor out = row_major_copy(factor);
    if (out.numel() > 0) cholesky_inverse_kernel(out, upper);
    return out;
}

Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
    lapack_int(cols(factor), "linalg.cholesky");
    const Tensor out = empty(grad.sizes(), grad.dtype(), grad.device());
    if (out.numel() > 0) cholesky_backward_kernel(out, grad, factor, upper);
    return all_finite(out) ? out : Tensor();  // the formula says what the zeros of such a cotangent are worth
}

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular) {
    const char* op = "linalg.solve_triangular";
    check_same_dtype(self, b, op);
    check_square(self, op);
    check_matrix(b, op, "B");
    check_system(self, b, left, op);
    Tensor out = row_major_copy(b, common_batch(self, b, op));
    lapack_int(rows(out), op), lapack_int(cols(out), op);
    if (out.numel() > 0) solve_triangular_kernel(out, self, upper, left, unitriangular);
    return out;
}

}  // namespace wengert::kernels
