// Singular values by one-sided Jacobi (Hestenes 1958): rotate pairs of columns until all are orthogonal. Slow next to a
// bidiagonalisation, short, and accurate to the last digits also for small singular values.
#include <algorithm>
#include <limits>
#include <numeric>

#include "backends/cpu/linalg/portable_lapack.h"
#include "backends/cpu/products/gemm.h"
#include "base/small_vector.h"

namespace wengert::kernels::portable {
namespace {

// Rotates columns p and q of w [m,n] to orthogonality, and v's with them. False if they already were orthogonal.
template <class T>
bool orthogonalise(Matrix<T> w, Matrix<T> v, int64_t p, int64_t q) {
    using R = real_of<T>;
    R pp = 0, qq = 0;
    T pq = 0;
    for (int64_t i = 0; i < w.rows; ++i) {
        pp += squared(w(i, p));
        qq += squared(w(i, q));
        pq += conjugate(w(i, p)) * w(i, q);
    }
    R size = std::abs(pq);
    if (!(size > std::numeric_limits<R>::epsilon() * std::sqrt(pp) * std::sqrt(qq)) || size == 0) return false;
    T phase = pq / size;  // makes the inner product real: q := q conj(phase)
    R zeta = (qq - pp) / (2 * size), steep = std::abs(zeta);
    R t = std::copysign(R(1), zeta) / (steep + (steep < R(1e8) ? std::sqrt(1 + steep * steep) : steep));
    R c = 1 / std::sqrt(1 + t * t), s = c * t;
    auto rotate = [&](Matrix<T> m) {
        for (int64_t i = 0; i < m.rows; ++i) {
            T x = m(i, p), y = m(i, q) * conjugate(phase);
            m(i, p) = c * x - s * y;
            m(i, q) = s * x + c * y;
        }
    };
    rotate(w);
    rotate(v);
    return true;
}

// Makes column j of u [m,m or n] a unit vector orthogonal to the columns before it.
template <class T>
void complete(Matrix<T> u, int64_t j) {
    using R = real_of<T>;
    for (int64_t trial = 0; trial < u.rows; ++trial) {
        int64_t e = (j + trial) % u.rows;
        for (int64_t i = 0; i < u.rows; ++i) u(i, j) = i == e ? T(1) : T(0);
        for (int pass = 0; pass < 2; ++pass)  // twice is enough
            for (int64_t c = 0; c < j; ++c) {
                T along = 0;
                for (int64_t i = 0; i < u.rows; ++i) along += conjugate(u(i, c)) * u(i, j);
                for (int64_t i = 0; i < u.rows; ++i) u(i, j) -= along * u(i, c);
            }
        R norm = 0;
        for (int64_t i = 0; i < u.rows; ++i) norm += squared(u(i, j));
        if (norm * static_cast<R>(2 * u.rows) < 1) continue;  // mostly in the span already
        for (int64_t i = 0; i < u.rows; ++i) u(i, j) /= std::sqrt(norm);
        return;
    }
}

// a [m,n], m >= n: a = u diag(s) v^H with u [m, u.cols], v [n, n], both maybe without elements. Returns LAPACK's info: 0, 1 where it did not converge,
// -4 where the input is not finite.
template <class T>
int decompose(Matrix<const T> a, real_of<T>* s, Matrix<T> u, Matrix<T> v) {
    using R = real_of<T>;
    int64_t m = a.rows, n = a.cols;
    SmallVector<T, 16> columns(static_cast<size_t>(m * n)), rotations(static_cast<size_t>(n * v.rows));
    Matrix<T> w = column_major(columns.data(), m, n, m), r = column_major(rotations.data(), v.rows, n, v.rows);
    R largest = 0;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
            if (!(std::abs(a(i, j)) <= std::numeric_limits<R>::max())) return -4;
            largest = std::max(largest, static_cast<R>(std::abs(a(i, j))));
        }
    R scale = largest > 0 ? largest : R(1);  // squares must neither overflow nor vanish
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < m; ++i) w(i, j) = a(i, j) / scale;
        for (int64_t i = 0; i < r.rows; ++i) r(i, j) = i == j ? T(1) : T(0);
    }
    bool moving = true;
    for (int sweep = 0; moving; ++sweep) {
        if (sweep == 60) return 1;
        moving = false;
        for (int64_t p = 0; p < n; ++p)
            for (int64_t q = p + 1; q < n; ++q) moving |= orthogonalise(w, r, p, q);
    }
    SmallVector<R, 8> norms(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) {
        R sum = 0;
        for (int64_t i = 0; i < m; ++i) sum += squared(w(i, j));
        norms[static_cast<size_t>(j)] = std::sqrt(sum);
    }
    SmallVector<int64_t, 8> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
        return norms[static_cast<size_t>(x)] > norms[static_cast<size_t>(y)];
    });
    for (int64_t k = 0; k < n; ++k) {
        int64_t j = order[static_cast<size_t>(k)];
        const R norm = norms[static_cast<size_t>(j)];
        s[k] = norm * scale;
        for (int64_t i = 0; i < v.rows; ++i) v(i, k) = r(i, j);
        if (u.cols == 0) continue;
        if (norm > std::numeric_limits<R>::min())
            for (int64_t i = 0; i < m; ++i) u(i, k) = w(i, j) / norm;
        else
            complete(u, k);
    }
    for (int64_t k = n; k < u.cols; ++k) complete(u, k);
    return 0;
}

template <class T>
int svd(char job, int64_t m, int64_t n, const T* data, int64_t lda, real_of<T>* s, T* u, int64_t ldu, T* vt,
        int64_t ldvt) {
    bool wanted = job != 'N', full = job == 'A';
    Matrix<const T> a = column_major(data, m, n, lda);
    int64_t k = std::min(m, n);
    Scratch<T> adjoint(m < n ? m * n : 0), right(wanted ? k * k : 0);
    // The wide case is the tall one of A^H = V S U^H.
    if (m < n) {
        for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) adjoint[i * n + j] = conjugate(a(i, j));
        a = column_major<const T>(adjoint.data(), n, m, n);
    }
    int64_t tall = std::max(m, n), left_cols = !wanted ? 0 : full ? tall : k;
    Scratch<T> left(tall * left_cols);
    Matrix<T> lm = column_major(left.data(), tall, left_cols, tall),
              rm = column_major(right.data(), wanted ? k : 0, k, k);
    if (int info = decompose(a, s, lm, rm); info != 0 || !wanted) return info;
    Matrix<T> um = column_major(u, m, full ? m : k, ldu), vm = column_major(vt, full ? n : k, n, ldvt);
    const Matrix<T>&us = m < n ? rm : lm, &vs = m < n ? lm : rm;
    for (int64_t j = 0; j < um.cols; ++j)
        for (int64_t i = 0; i < m; ++i) um(i, j) = us(i, j);
    for (int64_t i = 0; i < vm.rows; ++i)
        for (int64_t j = 0; j < n; ++j) vm(i, j) = conjugate(vs(j, i));
    return 0;
}

template <class T>
void gesdd_real(Flag job, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork, int*,
                int* info) {
    if (!answers_query(lwork, work)) *info = svd(*job, *m, *n, a, *lda, s, u, *ldu, vt, *ldvt);
}
template <class T>
void gesdd_complex(Flag job, Int m, Int n, T* a, Int lda, real_of<T>* s, T* u, Int ldu, T* vt, Int ldvt, T* work,
                   Int lwork, real_of<T>*, int*, int* info) {
    if (!answers_query(lwork, work)) *info = svd(*job, *m, *n, a, *lda, s, u, *ldu, vt, *ldvt);
}

}  // namespace

template <class T>
typename LapackTypes<T>::gesdd* svd_routine() {
    if constexpr (is_complex_type<T>)
        return gesdd_complex<T>;
    else
        return gesdd_real<T>;
}
template LapackTypes<float>::gesdd* svd_routine<float>();
template LapackTypes<double>::gesdd* svd_routine<double>();
template LapackTypes<complex64>::gesdd* svd_routine<complex64>();
template LapackTypes<complex128>::gesdd* svd_routine<complex128>();

}  // namespace wengert::kernels::portable
