#include "backends/cpu/linalg/portable_lapack.h"

#include <algorithm>

#include "backends/cpu/linalg/tiny_matrices.h"
#include "backends/cpu/products/gemm.h"
#include "base/small_vector.h"

namespace wengert::kernels::portable {
namespace {

constexpr int64_t kBlock = 32;

template <class T>
void gemm(Flag transa, Flag transb, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, Int ldb,
          const T* beta, T* c, Int ldc) {
    bool plain_a = *transa == 'N', plain_b = *transb == 'N';
    auto ma = column_major<const T>(a, plain_a ? *m : *k, plain_a ? *k : *m, *lda);
    auto mb = column_major<const T>(b, plain_b ? *k : *n, plain_b ? *n : *k, *ldb);
    auto mc = column_major<T>(c, *m, *n, *ldc);
    Adjoint<T> ha(*transa == 'C' ? ma : ma.block(0, 0, 0, 0)), hb(*transb == 'C' ? mb : mb.block(0, 0, 0, 0));
    own_gemm<T>(*alpha,
                plain_a          ? ma
                : *transa == 'C' ? ha.view()
                                 : ma.transposed(),
                plain_b          ? mb
                : *transb == 'C' ? hb.view()
                                 : mb.transposed(),
                *beta, mc);
}

// B := A^-1 B for a triangular A [n,n], B [n,k].
template <class T>
void solve_triangle(bool upper, bool unit, const Matrix<const T>& a, const Matrix<T>& b) {
    int64_t n = a.rows;
    if (n <= kTiny) {
        if (n > 0)
            with_rows(n,
                      [&]<int N> { upper ? solve_tiny<T, N, true>(unit, a, b) : solve_tiny<T, N, false>(unit, a, b); });
        return;
    }
    if (n > kBlock) {
        int64_t h = n / 2;
        Matrix<T> top = b.block(0, 0, h, b.cols), bottom = b.block(h, 0, n - h, b.cols);
        auto first = a.block(0, 0, h, h), second = a.block(h, h, n - h, n - h);
        if (upper) {
            solve_triangle(upper, unit, second, bottom);
            own_gemm<T>(T(-1), a.block(0, h, h, n - h), bottom, T(1), top);
            solve_triangle(upper, unit, first, top);
        } else {
            solve_triangle(upper, unit, first, top);
            own_gemm<T>(T(-1), a.block(h, 0, n - h, h), top, T(1), bottom);
            solve_triangle(upper, unit, second, bottom);
        }
        return;
    }
    for (int64_t step = 0; step < n; ++step) {
        int64_t i = upper ? n - 1 - step : step;
        int64_t from = upper ? i + 1 : 0, to = upper ? n : i;
        for (int64_t j = 0; j < b.cols; ++j) {
            T x = b(i, j);
            for (int64_t p = from; p < to; ++p) x -= a(i, p) * b(p, j);
            b(i, j) = unit ? x : quotient(x, a(i, i));
        }
    }
}

template <class T>
void trsm(Flag side, Flag uplo, Flag transa, Flag diag, Int m, Int n, const T* alpha, const T* a, Int lda, T* b,
          Int ldb) {
    // Numbers and not matrices are exchanged: of many small systems these are all there is to do.
    const int64_t order = *side == 'L' ? *m : *n, others = *side == 'L' ? *n : *m;
    if (*alpha != T(1))
        for (int64_t j = 0; j < *n; ++j)
            for (int64_t i = 0; i < *m; ++i) b[j * *ldb + i] *= *alpha;
    const bool right = *side == 'R', turned = (*transa != 'N') != right;  // X A = B is A^T X^T = B^T
    int64_t step = *lda;
    const Scratch<T> conjugated(is_complex_type<T> && *transa == 'C' ? order * order : 0);
    if (conjugated.data()) {
        for (int64_t j = 0; j < order; ++j)
            for (int64_t i = 0; i < order; ++i) conjugated[j * order + i] = conjugate(a[j * step + i]);
        a = conjugated;
        step = order;
    }
    const Matrix<const T> ma{a, order, order, turned ? step : 1, turned ? 1 : step};
    const Matrix<T> mb{b, order, others, right ? *ldb : 1, right ? 1 : *ldb};
    solve_triangle((*uplo == 'U') != turned, *diag == 'U', ma, mb);
}

// A = L L^H, the lower triangle of `a` alone is read and written. Returns the order of the bad minor, or 0.
template <class T>
int cholesky(Matrix<T> a) {
    int64_t n = a.rows;
    Scratch<T> product(n > kBlock ? kBlock * kBlock : 0);
    for (int64_t j0 = 0; j0 < n; j0 += kBlock) {
        int64_t w = std::min(kBlock, n - j0);
        Matrix<T> left = a.block(j0, 0, w, j0);  // [w,j0], finished
        Adjoint<T> left_h(left);
        if (j0 > 0) {  // subtract what the finished columns explain
            Matrix<T> p = row_major(product.data(), w, w);
            own_gemm<T>(T(1), left, left_h.view(), T(0), p);
            for (int64_t i = 0; i < w; ++i)
                for (int64_t j = 0; j <= i; ++j) a(j0 + i, j0 + j) -= p(i, j);
            own_gemm<T>(T(-1), a.block(j0 + w, 0, n - j0 - w, j0), left_h.view(), T(1),
                        a.block(j0 + w, j0, n - j0 - w, w));
        }
        for (int64_t j = j0; j < j0 + w; ++j) {
            real_of<T> d = real_part(a(j, j));
            for (int64_t p = j0; p < j; ++p) d -= squared(a(j, p));
            if (!(d > 0)) return static_cast<int>(j + 1);
            d = std::sqrt(d);
            a(j, j) = d;
            for (int64_t i = j + 1; i < n; ++i) {
                T x = a(i, j);
                for (int64_t p = j0; p < j; ++p) x -= a(i, p) * conjugate(a(j, p));
                a(i, j) = x / d;
            }
        }
    }
    return 0;
}

// Of an upper factor U with A = U^H U, the transposed view is the lower factor of conj(A): the same arithmetic.
template <class T>
void potrf(Flag uplo, Int n, T* a, Int lda, int* info) {
    Matrix<T> m = column_major(a, *n, *n, *lda);
    *info = cholesky(*uplo == 'L' ? m : m.transposed());
}

template <class T>
void potri(Flag uplo, Int n, T* a, Int lda, int* info) {
    Matrix<T> m = column_major(a, *n, *n, *lda);
    Matrix<T> l = *uplo == 'L' ? m : m.transposed();
    *info = 0;
    Scratch<T> inverse(int64_t{*n} * *n);
    Matrix<T> x = column_major(inverse.data(), *n, *n, *n);
    for (int64_t i = 0; i < *n; ++i)
        for (int64_t j = 0; j < *n; ++j) x(i, j) = i == j ? T(1) : T(0);
    Adjoint<T> lh(l);
    solve_triangle<T>(false, false, l, x);
    solve_triangle<T>(true, false, lh.view(), x);
    for (int64_t j = 0; j < *n; ++j)
        for (int64_t i = j; i < *n; ++i) l(i, j) = x(i, j);
}

template <class T>
void swap_rows(Matrix<T> a, int64_t i, int64_t j) {
    if (i != j)
        for (int64_t c = 0; c < a.cols; ++c) std::swap(a(i, c), a(j, c));
}

template <class T>
void getrf(Int rows, Int cols, T* data, Int lda, int* pivots, int* info) {
    int64_t m = *rows, n = *cols, steps = std::min(m, n);
    Matrix<T> a = column_major(data, m, n, *lda);
    if (m == n && n > 0 && n <= kTiny) {
        *info = with_rows(n, [&]<int N> { return factor_tiny<T, N>(a, pivots); });
        return;
    }
    *info = 0;
    for (int64_t j0 = 0; j0 < steps; j0 += kBlock) {
        int64_t w = std::min(kBlock, steps - j0);
        for (int64_t j = j0; j < j0 + w; ++j) {
            int64_t pivot = j;
            for (int64_t i = j + 1; i < m; ++i)
                if (size(a(i, j)) > size(a(pivot, j))) pivot = i;
            pivots[j] = static_cast<int>(pivot + 1);
            if (a(pivot, j) == T(0)) {
                if (*info == 0) *info = static_cast<int>(j + 1);
                continue;
            }
            swap_rows(a, j, pivot);
            for (int64_t i = j + 1; i < m; ++i) a(i, j) = quotient(a(i, j), a(j, j));
            for (int64_t c = j + 1; c < j0 + w; ++c)
                for (int64_t i = j + 1; i < m; ++i) a(i, c) -= a(i, j) * a(j, c);
        }
        int64_t next = j0 + w;
        if (next >= n) continue;
        Matrix<T> right = a.block(j0, next, w, n - next);
        solve_triangle<T>(false, true, a.block(j0, j0, w, w), right);
        if (next < m)
            own_gemm<T>(T(-1), a.block(next, j0, m - next, w), right, T(1), a.block(next, next, m - next, n - next));
    }
}

template <class T>
void getri(Int order, T* data, Int lda, Int pivots, T* work, Int lwork, int* info) {
    if (answers_query(lwork, work)) return;
    int64_t n = *order;
    Matrix<T> a = column_major(data, n, n, *lda);
    *info = 0;
    for (int64_t i = 0; i < n; ++i)
        if (a(i, i) == T(0)) {
            *info = static_cast<int>(i + 1);
            return;
        }
    if (n > 0 && n <= kTiny) return with_rows(n, [&]<int N> { invert_tiny<T, N>(a, pivots); });
    SmallVector<T, 64> inverse(static_cast<size_t>(n * n));
    Matrix<T> x = column_major(inverse.data(), n, n, n);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) x(i, j) = i == j ? T(1) : T(0);
    for (int64_t i = 0; i < n; ++i) swap_rows(x, i, pivots[i] - 1);
    solve_triangle<T>(false, true, a, x);
    solve_triangle<T>(true, false, a, x);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) a(i, j) = x(i, j);
}

// C := (I - tau v v^H) C, where v[0] == 1 is not stored. C [m,n], v [m]
template <class T>
void reflect(T tau, const T* v, Matrix<T> c) {
    if (tau == T(0)) return;
    for (int64_t j = 0; j < c.cols; ++j) {
        T sum = c(0, j);
        for (int64_t i = 1; i < c.rows; ++i) sum += conjugate(v[i]) * c(i, j);
        sum *= tau;
        c(0, j) -= sum;
        for (int64_t i = 1; i < c.rows; ++i) c(i, j) -= sum * v[i];
    }
}

template <class T>
void geqrf(Int rows, Int cols, T* data, Int lda, T* tau, T* work, Int lwork, int* info) {
    if (answers_query(lwork, work)) return;
    using R = real_of<T>;
    int64_t m = *rows, n = *cols;
    Matrix<T> a = column_major(data, m, n, *lda);
    *info = 0;
    for (int64_t j = 0; j < std::min(m, n); ++j) {
        T* x = &a(j, j);
        R tail = 0, scale = 0;
        for (int64_t i = 0; i < m - j; ++i) scale = std::max(scale, static_cast<R>(std::abs(x[i])));
        if (scale > R(1e-15) && scale < R(1e15)) scale = 1;  // their squares are far from both ends
        const auto scaled = [scale](const T& element) { return squared(scale == 1 ? element : element / scale); };
        for (int64_t i = 1; scale > 0 && i < m - j; ++i) tail += scaled(x[i]);
        if (tail == 0 && std::imag(x[0]) == 0) {
            tau[j] = 0;
            continue;
        }
        R beta = -std::copysign(scale * std::sqrt(scaled(x[0]) + tail), real_part(x[0]));
        tau[j] = (beta - x[0]) / beta;
        T divisor = x[0] - beta;
        for (int64_t i = 1; i < m - j; ++i) x[i] /= divisor;
        x[0] = beta;
        reflect(conjugate(tau[j]), x, a.block(j, j + 1, m - j, n - j - 1));
    }
}

template <class T>
void orgqr(Int rows, Int cols, Int reflectors, T* data, Int lda, const T* tau, T* work, Int lwork, int* info) {
    if (answers_query(lwork, work)) return;
    int64_t m = *rows, n = *cols, k = *reflectors;
    Matrix<T> a = column_major(data, m, n, *lda);
    *info = 0;
    Scratch<T> v(m);
    for (int64_t j = n - 1; j >= 0; --j) {
        for (int64_t i = 0; i < m - j; ++i) v[i] = j < k ? a(j + i, j) : T(0);
        for (int64_t i = 0; i < m; ++i) a(i, j) = i == j ? T(1) : T(0);
        if (j < k) reflect(tau[j], v.data(), a.block(j, j, m - j, n - j));
    }
}

// C := C (I - tau v v^H), where v[0] == 1 is not stored. C [m,n], v [n]
template <class T>
void reflect_right(T tau, const T* v, Matrix<T> c) {
    if (tau == T(0)) return;
    for (int64_t i = 0; i < c.rows; ++i) {
        T sum = c(i, 0);
        for (int64_t j = 1; j < c.cols; ++j) sum += c(i, j) * v[j];
        sum *= tau;
        c(i, 0) -= sum;
        for (int64_t j = 1; j < c.cols; ++j) c(i, j) -= sum * conjugate(v[j]);
    }
}

// Q = H_1 H_2 ... H_k; its adjoint has the factors' conjugates in the other order.
template <class T>
void ormqr(Flag side, Flag trans, Int rows, Int cols, Int reflectors, const T* data, Int lda, const T* tau, T* to,
           Int ldc, T* work, Int lwork, int* info) {
    if (answers_query(lwork, work)) return;
    const bool left = *side == 'L', plain = *trans == 'N';
    const Matrix<T> c = column_major(to, *rows, *cols, *ldc);
    const int64_t k = *reflectors;
    *info = 0;
    for (int64_t step = 0; step < k; ++step) {
        const int64_t j = left == plain ? k - 1 - step : step;
        const T factor = plain ? tau[j] : conjugate(tau[j]);
        const T* v = data + j * *lda + j;
        if (left)
            reflect(factor, v, c.block(j, 0, c.rows - j, c.cols));
        else
            reflect_right(factor, v, c.block(0, j, c.rows, c.cols - j));
    }
}

}  // namespace

template <class T>
Blas<T> routines() {
    return {gemm<T>,
            trsm<T>,
            potrf<T>,
            potri<T>,
            getrf<T>,
            getri<T>,
            geqrf<T>,
            orgqr<T>,
            ormqr<T>,
            ldl_routine<T>(true),
            ldl_routine<T>(false),
            svd_routine<T>(),
            eigh_routine<T>(),
            eig_routine<T>()};
}
template Blas<float> routines();
template Blas<double> routines();
template Blas<complex64> routines();
template Blas<complex128> routines();

}  // namespace wengert::kernels::portable
