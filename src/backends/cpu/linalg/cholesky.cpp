// Cholesky factors, inverses from them, and systems with triangular matrices, on the CPU.
#include <algorithm>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/lapack.h"

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

void cholesky(Result out, Result info, bool upper) {
    const int n = static_cast<int>(cols(out)), ld = std::max(n, 1);
    dispatch_inexact(out->dtype(), "linalg.cholesky", [&]<class T> {
        T* a = out->data_as<T>();
        for (int64_t i = 0; i < batch_count(out); ++i, a += int64_t{n} * n) {
            int result = 0;
            routines_for<T>(n).potrf(mirrored(upper), &n, a, &ld, &result);
            info->data_as<int32_t>()[i] = result;
            clear_triangle(a, n, upper);
        }
    });
}

void cholesky_inverse(Result out, bool upper) {
    const int n = static_cast<int>(cols(out)), ld = std::max(n, 1);
    dispatch_inexact(out->dtype(), "cholesky_inverse", [&]<class T> {
        T* a = out->data_as<T>();
        for (int64_t matrix = 0; matrix < batch_count(out); ++matrix, a += int64_t{n} * n) {
            int info = 0;
            routines_for<T>(n).potri(mirrored(upper), &n, a, &ld, &info);
            if (info != 0) {
                fill_matrix_with_nan(out, matrix);
                continue;
            }
            for (int64_t i = 0; i < n; ++i)
                for (int64_t j = 0; j < i; ++j)
                    if (upper)
                        a[i * n + j] = conjugate(a[j * n + i]);
                    else
                        a[j * n + i] = conjugate(a[i * n + j]);
        }
    });
}

// X A = B for row-major X: LAPACK sees A^T X^T = B^T. B [m,n] is overwritten, A [order,order].
template <class T>
void solve_triangle(const T* a, T* b, int m, int n, bool left, bool upper, char trans, bool unit) {
    T one(1);
    int order = left ? m : n, lda = std::max(order, 1), ldb = std::max(n, 1);
    routines_for<T>(order).trsm(left ? "R" : "L", mirrored(upper), &trans, unit ? "U" : "N", &n, &m, &one, a, &lda, b,
                                &ldb);
}

void solve_triangular(Result out, const Tensor& matrices, bool upper, bool left, bool unitriangular) {
    // The transpose of a contiguous matrix need not be copied: solve with 'T' and the other triangle.
    const bool one_matrix = matrices.dim() == 2;
    const bool as_transpose = one_matrix && matrix_transposed(matrices).is_contiguous() && !matrices.is_contiguous();
    const Tensor a = as_transpose ? matrices
                     : one_matrix ? contiguous(matrices)
                                  : row_major_copy(matrices, batch_sizes(out));
    const int m = static_cast<int>(rows(out)), n = static_cast<int>(cols(out));
    dispatch_inexact(out->dtype(), "linalg.solve_triangular", [&]<class T> {
        const int64_t step = one_matrix ? 0 : rows(a) * cols(a);
        const int64_t count = batch_count(out);
        for (int64_t i = 0; i < count; ++i)
            solve_triangle(a.data_as<T>() + i * step, out->data_as<T>() + i * m * n, m, n, left,
                           as_transpose ? !upper : upper, as_transpose ? 'T' : 'N', unitriangular);
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Result, bool)> cholesky_kernel{"linalg_cholesky", cholesky};
constinit DeviceKernel<void(Result, bool)> cholesky_inverse_kernel{"cholesky_inverse", cholesky_inverse};
constinit DeviceKernel<void(Result, const Tensor&, bool, bool, bool)> solve_triangular_kernel{"linalg_solve_triangular",
                                                                                              solve_triangular};

}  // namespace wengert::kernels
