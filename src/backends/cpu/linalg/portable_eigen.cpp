// Eigenvalues. Hermitian: cyclic Jacobi. General: reduction to Hessenberg form, then QR steps with Wilkinson's shift in
// complex arithmetic, then back substitution (Golub & Van Loan, Matrix Computations, sections 7.4 to 7.6 and 8.5).
#include <algorithm>
#include <limits>
#include <numeric>

#include "backends/cpu/linalg/portable_lapack.h"
#include "backends/cpu/products/gemm.h"
#include "base/small_vector.h"

namespace wengert::kernels::portable {
namespace {

template <class T>
Matrix<T> identity(T* data, int64_t n) {
    Matrix<T> m = column_major(data, n, n, n);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) m(i, j) = i == j ? T(1) : T(0);
    return m;
}

// Makes a(p,q) zero by a rotation of rows and columns p and q; v collects the columns.
template <class T>
void annihilate(Matrix<T> a, Matrix<T> v, int64_t p, int64_t q) {
    using R = real_of<T>;
    R size = std::abs(a(p, q));
    T phase = a(p, q) / size;
    R theta = (real_part(a(q, q)) - real_part(a(p, p))) / (2 * size);
    R t = std::copysign(R(1), theta) / (std::abs(theta) + std::hypot(R(1), theta));
    R c = 1 / std::hypot(R(1), t), s = t * c;
    auto rotate = [&](T& x, T& y, const T& turn) {
        T first = x, second = y * turn;
        x = c * first - s * second;
        y = s * first + c * second;
    };
    for (int64_t i = 0; i < a.rows; ++i) rotate(a(i, p), a(i, q), conjugate(phase));  // columns
    for (int64_t i = 0; i < a.rows; ++i) rotate(a(p, i), a(q, i), phase);             // rows
    for (int64_t i = 0; i < v.rows; ++i) rotate(v(i, p), v(i, q), conjugate(phase));
    a(p, q) = a(q, p) = T(0);
}

// Of the triangle that `upper` names; a becomes the eigenvectors if they are wanted, w ascending. 0, or 1: no convergence.
template <class T>
int hermitian_eigen(bool vectors, bool upper, Matrix<T> a, real_of<T>* w) {
    using R = real_of<T>;
    int64_t n = a.rows;
    Scratch<T> work(n * n), rotations(vectors ? n * n : 0);
    Matrix<T> m = column_major(work.data(), n, n, n), v{};
    if (vectors) v = identity(rotations.data(), n);
    R total = 0;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) {
            T x = (i <= j) == upper ? a(i, j) : conjugate(a(j, i));
            m(i, j) = i == j ? T(real_part(a(i, i))) : x;
            if (!(std::abs(m(i, j)) <= std::numeric_limits<R>::max())) return 1;
            total = std::max(total, static_cast<R>(std::abs(m(i, j))));
        }
    constexpr R eps = std::numeric_limits<R>::epsilon();
    bool moving = true;
    for (int sweep = 0; moving; ++sweep) {
        if (sweep == 60) return 1;
        moving = false;
        for (int64_t p = 0; p < n; ++p)
            for (int64_t q = p + 1; q < n; ++q) {
                R size = std::abs(m(p, q));
                R local = std::sqrt(std::abs(m(p, p))) * std::sqrt(std::abs(m(q, q)));
                if (size <= eps * R(0.1) * local || size <= eps * eps * total) continue;
                annihilate(m, v, p, q);
                moving |= size > eps * R(0.1) * total / static_cast<R>(n);
            }
    }
    SmallVector<int64_t, 8> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t x, int64_t y) { return real_part(m(x, x)) < real_part(m(y, y)); });
    for (int64_t k = 0; k < n; ++k) {
        int64_t from = order[static_cast<size_t>(k)];
        w[k] = real_part(m(from, from));
        if (vectors)
            for (int64_t i = 0; i < n; ++i) a(i, k) = v(i, from);
    }
    return 0;
}

template <class T>
void syevd(Flag job, Flag uplo, Int n, T* a, Int lda, T* w, T* work, Int lwork, int* iwork, Int, int* info) {
    *info = 0;
    if (answers_query(lwork, work)) {
        iwork[0] = 1;
        return;
    }
    *info = hermitian_eigen(*job == 'V', *uplo == 'U', column_major(a, *n, *n, *lda), w);
}
template <class T>
void heevd(Flag job, Flag uplo, Int n, T* a, Int lda, real_of<T>* w, T* work, Int lwork, real_of<T>* rwork, Int,
           int* iwork, Int, int* info) {
    *info = 0;
    if (answers_query(lwork, work)) {
        rwork[0] = 1;
        iwork[0] = 1;
        return;
    }
    *info = hermitian_eigen(*job == 'V', *uplo == 'U', column_major(a, *n, *n, *lda), w);
}

// --- General matrices, complex arithmetic

// (x, y) := (c x + s y, -conj(s) x + c y)
template <class C>
struct Givens {
    real_of<C> c;
    C s;
    // The rotation that makes y zero.
    Givens(const C& x, const C& y) : c(1), s(0) {
        real_of<C> ax = std::abs(x), ay = std::abs(y), r = std::hypot(ax, ay);
        if (ay == 0) return;
        c = ax / r;
        s = (ax == 0 ? C(1) : x / ax) * std::conj(y) / r;
    }
    void apply(C& x, C& y) const {
        C first = x, second = y;
        x = c * first + s * second;
        y = -std::conj(s) * first + c * second;
    }
    void apply_adjoint_right(C& x, C& y) const {
        C first = x, second = y;
        x = c * first + std::conj(s) * second;
        y = -s * first + c * second;
    }
};

// h := Q^H h Q upper Hessenberg by rotations, z := z Q.
template <class C>
void to_hessenberg(Matrix<C> h, Matrix<C> z) {
    int64_t n = h.rows;
    for (int64_t j = 0; j + 2 < n; ++j)
        for (int64_t i = n - 1; i > j + 1; --i) {
            if (h(i, j) == C(0)) continue;
            Givens<C> g(h(i - 1, j), h(i, j));
            for (int64_t c = j; c < n; ++c) g.apply(h(i - 1, c), h(i, c));
            for (int64_t r = 0; r < n; ++r) g.apply_adjoint_right(h(r, i - 1), h(r, i));
            for (int64_t r = 0; r < z.rows; ++r) g.apply_adjoint_right(z(r, i - 1), z(r, i));
            h(i, j) = 0;
        }
}

// The eigenvalue of the trailing 2x2 block of h[..end, ..end] nearest to its last entry.
template <class C>
C wilkinson_shift(Matrix<C> h, int64_t end) {
    C a = h(end - 2, end - 2), b = h(end - 2, end - 1), c = h(end - 1, end - 2), d = h(end - 1, end - 1);
    C half = (a - d) / C(2), root = std::sqrt(half * half + b * c);
    C denominator = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
    return denominator == C(0) ? d : d - b * c / denominator;
}

// h upper Hessenberg becomes upper triangular. False: no convergence.
template <class C>
bool to_schur(Matrix<C> h, Matrix<C> z) {
    using R = real_of<C>;
    int64_t n = h.rows, end = n;
    Scratch<Givens<C>> turns(n);
    R norm = 0;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i <= std::min(j + 1, n - 1); ++i) norm = std::max(norm, static_cast<R>(std::abs(h(i, j))));
    for (int iterations = 0; end > 1;) {
        int64_t start = end - 1;
        for (; start > 0; --start) {
            R neighbours = std::abs(h(start, start)) + std::abs(h(start - 1, start - 1));
            if (std::abs(h(start, start - 1)) <=
                std::numeric_limits<R>::epsilon() * (neighbours == 0 ? norm : neighbours)) {
                h(start, start - 1) = 0;
                break;
            }
        }
        if (start == end - 1) {
            --end;
            iterations = 0;
            continue;
        }
        if (++iterations > 300) return false;
        C shift = wilkinson_shift(h, end);
        if (iterations % 11 == 10) shift = h(end - 1, end - 1) + C(std::abs(h(end - 1, end - 2)));  // breaks cycles
        for (int64_t i = start; i < end; ++i) h(i, i) -= shift;
        for (int64_t i = start; i + 1 < end; ++i) {
            turns[i] = Givens<C>(h(i, i), h(i + 1, i));
            for (int64_t c = i; c < n; ++c) turns[i].apply(h(i, c), h(i + 1, c));
        }
        for (int64_t i = start; i + 1 < end; ++i) {
            for (int64_t r = 0; r <= std::min(i + 1, end - 1); ++r) turns[i].apply_adjoint_right(h(r, i), h(r, i + 1));
            for (int64_t r = 0; r < z.rows; ++r) turns[i].apply_adjoint_right(z(r, i), z(r, i + 1));
        }
        for (int64_t i = start; i < end; ++i) h(i, i) += shift;
    }
    return true;
}

// Columns of v: unit eigenvectors z x, where t x = t(k,k) x for the triangular t. The largest component is made real.
template <class C>
void triangular_eigenvectors(Matrix<C> t, Matrix<C> z, Matrix<C> v) {
    using R = real_of<C>;
    int64_t n = t.rows;
    Scratch<C> x(n);
    R norm = std::numeric_limits<R>::min();
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i <= j; ++i) norm = std::max(norm, static_cast<R>(std::abs(t(i, j))));
    R smallest = std::numeric_limits<R>::epsilon() * norm;
    for (int64_t k = 0; k < n; ++k) {
        x[k] = 1;
        for (int64_t i = k - 1; i >= 0; --i) {
            C sum = 0;
            for (int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * x[j];
            C gap = t(i, i) - t(k, k);
            x[i] = -sum / (std::abs(gap) < smallest ? C(smallest) : gap);
        }
        R length = 0;
        int64_t largest = 0;
        for (int64_t i = 0; i < n; ++i) {
            C sum = 0;
            for (int64_t j = 0; j <= k; ++j) sum += z(i, j) * x[j];
            v(i, k) = sum;
            length = std::hypot(length, static_cast<R>(std::abs(sum)));
            if (std::abs(sum) > std::abs(v(largest, k))) largest = i;
        }
        C turn = std::conj(v(largest, k)) / (std::abs(v(largest, k)) * length);
        for (int64_t i = 0; i < n; ++i) v(i, k) *= turn;
        v(largest, k) = std::real(v(largest, k));
    }
}

// w [n] and, if wanted, v [n,n]. 0, or 1: no convergence.
template <class C>
int general_eigen(bool vectors, Matrix<C> h, C* w, Matrix<C> v) {
    int64_t n = h.rows;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i)
            if (!(std::abs(h(i, j)) <= std::numeric_limits<real_of<C>>::max())) return 1;
    Scratch<C> basis(vectors ? n * n : 0);
    Matrix<C> z{};
    if (vectors) z = identity(basis.data(), n);
    to_hessenberg(h, z);
    if (!to_schur(h, z)) return 1;
    for (int64_t i = 0; i < n; ++i) w[i] = h(i, i);
    if (vectors) triangular_eigenvectors(h, z, v);
    return 0;
}

template <class C>
void geev_complex(Flag, Flag job, Int n, C* a, Int lda, C* w, C*, Int, C* vr, Int ldvr, C* work, Int lwork, real_of<C>*,
                  int* info) {
    *info = 0;
    if (answers_query(lwork, work)) return;
    *info = general_eigen(*job == 'V', column_major(a, *n, *n, *lda), w, column_major(vr, *n, *n, *ldvr));
}

// A real matrix's eigenvalues in LAPACK's form: a conjugate pair stands together, positive imaginary part first; its
// vectors are v(j) +- i v(j+1).
template <class R>
void geev_real(Flag, Flag job, Int order, R* data, Int lda, R* wr, R* wi, R*, Int, R* vr, Int ldvr, R* work, Int lwork,
               int* info) {
    *info = 0;
    if (answers_query(lwork, work)) return;
    using C = std::complex<R>;
    int64_t n = *order;
    bool vectors = *job == 'V';
    Matrix<R> a = column_major(data, n, n, *lda), out = column_major(vr, n, n, *ldvr);
    Scratch<C> copy(n * n), values(n), columns(vectors ? n * n : 0);
    Matrix<C> h = column_major(copy.data(), n, n, n), v = column_major(columns.data(), n, n, n);
    R norm = 0;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) {
            h(i, j) = a(i, j);
            norm = std::max(norm, std::abs(a(i, j)));
        }
    *info = general_eigen(vectors, h, values.data(), v);
    if (*info) return;
    SmallVector<char, 16> used(static_cast<size_t>(n), 0);
    R tolerance = std::sqrt(std::numeric_limits<R>::epsilon()) * norm;
    int64_t k = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (used[static_cast<size_t>(i)]) continue;
        used[static_cast<size_t>(i)] = 1;
        // The partner is the unused value nearest to the conjugate; a real value is its own.
        int64_t partner = i;
        R nearest = 2 * std::abs(values[i].imag());
        for (int64_t j = i + 1; j < n; ++j)
            if (R d = std::abs(values[j] - std::conj(values[i])); !used[static_cast<size_t>(j)] && d < nearest &&
                                                                  values[j].imag() * values[i].imag() < 0 &&
                                                                  d < tolerance + nearest / 2) {
                partner = j;
                nearest = d;
            }
        if (partner == i) {
            wr[k] = values[i].real();
            wi[k] = 0;
            if (vectors)
                for (int64_t r = 0; r < n; ++r) out(r, k) = v(r, i).real();
            ++k;
            continue;
        }
        used[static_cast<size_t>(partner)] = 1;
        int64_t up = values[i].imag() > 0 ? i : partner;
        wr[k] = wr[k + 1] = values[up].real();
        wi[k] = values[up].imag();
        wi[k + 1] = -wi[k];
        if (vectors)
            for (int64_t r = 0; r < n; ++r) {
                out(r, k) = v(r, up).real();
                out(r, k + 1) = v(r, up).imag();
            }
        k += 2;
    }
}

}  // namespace

template <class T>
typename LapackTypes<T>::heevd* eigh_routine() {
    if constexpr (is_complex_type<T>)
        return heevd<T>;
    else
        return syevd<T>;
}
template <class T>
typename LapackTypes<T>::geev* eig_routine() {
    if constexpr (is_complex_type<T>)
        return geev_complex<T>;
    else
        return geev_real<T>;
}
#define WENGERT_INSTANTIATE(T)                         \
    template LapackTypes<T>::heevd* eigh_routine<T>(); \
    template LapackTypes<T>::geev* eig_routine<T>();
WENGERT_INSTANTIATE(float)
WENGERT_INSTANTIATE(double)
WENGERT_INSTANTIATE(complex64)
WENGERT_INSTANTIATE(complex128)
#undef WENGERT_INSTANTIATE

}  // namespace wengert::kernels::portable
