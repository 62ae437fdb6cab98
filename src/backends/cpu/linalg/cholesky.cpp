// Cholesky factors, and systems with triangular matrices.
#include <algorithm>

#include "kernels/linalg/common.h"
#include "kernels/linalg/error.h"
#include "kernels/linalg/linalg.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// Row-major memory read by LAPACK is the transposed matrix: its lower triangle is the upper one.
const char* mirrored(bool upper) { return upper ? "L" : "U"; }

// Zeroes the triangle that a factor does not use. [n,n], row-major
template <class T>
void clear_triangle(T* a, int64_t n, bool upper) {
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = upper ? 0 : i + 1; j < (upper ? i : n); ++j) a[i * n + j] = T(0);
}

Tensor cholesky_factor(const Tensor& self, bool upper, int32_t* infos) {
    Tensor out = row_major_copy(self);
    int n = lapack_int(cols(self), "linalg.cholesky");
    dispatch_inexact(self.dtype(), "linalg.cholesky", [&]<class T> {
        T* a = out.data_as<T>();
        for (int64_t i = 0; i < batch_count(self); ++i, a += int64_t{n} * n) {
            int info = 0, ld = std::max(n, 1);
            routines_for<T>(n).potrf(mirrored(upper), &n, a, &ld, &info);
            infos[i] = info;
            clear_triangle(a, n, upper);
        }
    });
    return out;
}

void check_positive_definite(const Tensor& self, const int32_t* infos) {
    for (int64_t i = 0; i < batch_count(self); ++i)
        check_linalg(
            infos[i] == 0, "linalg.cholesky: ", batch_element(self, i),
            "The factorization could not be completed because the input is not positive-definite (the leading minor of "
            "order ",
            infos[i], " is not positive-definite).");
}

// X A = B for row-major X: LAPACK sees A^T X^T = B^T. B [m,n] is overwritten, A [order,order].
template <class T>
void solve_triangle(const T* a, T* b, int m, int n, bool left, bool upper, char trans, bool unit) {
    T one(1);
    int order = left ? m : n, lda = std::max(order, 1), ldb = std::max(n, 1);
    routines_for<T>(order).trsm(left ? "R" : "L", mirrored(upper), &trans, unit ? "U" : "N", &n, &m, &one, a, &lda, b,
                                &ldb);
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
    check_square(self, "linalg.cholesky");
    Tensor info = int32_zeros(batch_sizes(self));
    Tensor out = cholesky_factor(self, upper, info.data_as<int32_t>());
    if (check_errors) check_positive_definite(self, info.data_as<int32_t>());
    return {out, info};
}

Tensor linalg_cholesky(const Tensor& self, bool upper) { return std::get<0>(linalg_cholesky_ex(self, upper, true)); }

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular) {
    const char* op = "linalg.solve_triangular";
    check_same_dtype(self, b, op);
    check_square(self, op);
    check_matrix(b, op, "B");
    check_system(self, b, left, op);
    Dims batch = common_batch(self, b, op);
    Tensor out = row_major_copy(b, batch);
    // The transpose of a contiguous matrix need not be copied: solve with 'T' and the other triangle.
    bool one_matrix = self.dim() == 2;
    bool as_transpose = one_matrix && matrix_transposed(self).is_contiguous() && !self.is_contiguous();
    Tensor a = as_transpose ? self : one_matrix ? contiguous(self) : row_major_copy(self, batch);
    int m = lapack_int(rows(out), op), n = lapack_int(cols(out), op);
    dispatch_inexact(b.dtype(), op, [&]<class T> {
        int64_t step = one_matrix ? 0 : rows(self) * cols(self);
        for (int64_t i = 0; i < batch_count(out); ++i)
            solve_triangle(a.data_as<T>() + i * step, out.data_as<T>() + i * m * n, m, n, left,
                           as_transpose ? !upper : upper, as_transpose ? 'T' : 'N', unitriangular);
    });
    return out;
}

}  // namespace wengert::kernels
