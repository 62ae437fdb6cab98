// Bunch and Kaufman's decomposition, column by column (Golub & Van Loan, Matrix Computations, section 4.4); ldl.cpp says what
// its format is.
#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cpu/linalg/portable_lapack.h"

namespace wengert::kernels::portable {
namespace {

template <class T>
class Elimination {
    using R = real_of<T>;

public:
    // The lower triangle of column-major `a` [n,n] is read and replaced. Returns the place of a pivot that is 0, or 0.
    static int32_t run(T* a, int64_t n, int64_t ld, bool hermitian, int32_t* pivots) {
        return Elimination{a, n, ld, hermitian && is_complex_type<T>}.eliminate(pivots);
    }

private:
    Elimination(T* a, int64_t n, int64_t ld, bool hermitian) : a_(a), n_(n), ld_(ld), hermitian_(hermitian) {}

    T& at(int64_t i, int64_t j) { return a_[i + j * ld_]; }
    T mirrored(T x) const {
        if constexpr (is_complex_type<T>)
            return hermitian_ ? std::conj(x) : x;
        else
            return x;
    }
    static R size(T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); }
    R diagonal_size(int64_t i) { return hermitian_ ? std::abs(std::real(at(i, i))) : size(at(i, i)); }

    int32_t eliminate(int32_t* pivots) {
        const R alpha = (R(1) + std::sqrt(R(17))) / R(8);
        int32_t info = 0;
        for (int64_t k = 0; k < n_;) {
            int64_t below = k, other = k, step = 1;
            R largest = 0;
            for (int64_t i = k + 1; i < n_; ++i)
                if (size(at(i, k)) > largest) largest = size(at(i, k)), below = i;
            const R own = diagonal_size(k);
            if (!(std::max(own, largest) > 0)) {
                if (info == 0) info = static_cast<int32_t>(k + 1);
                pivots[k] = static_cast<int32_t>(k + 1);
                ++k;
                continue;
            }
            if (own < alpha * largest) {
                R row = 0;
                for (int64_t j = k; j < below; ++j) row = std::max(row, size(at(below, j)));
                for (int64_t i = below + 1; i < n_; ++i) row = std::max(row, size(at(i, below)));
                if (own < alpha * largest * (largest / row)) {
                    other = below;
                    if (diagonal_size(below) < alpha * row) step = 2;
                }
            }
            const int64_t last = k + step - 1;
            if (other != last) exchange(k, last, other, step);
            if (hermitian_)
                for (int64_t i = k; i <= last; ++i) at(i, i) = std::real(at(i, i));
            step == 1 ? eliminate_one(k) : eliminate_two(k);
            const auto p = static_cast<int32_t>(other + 1);
            pivots[k] = step == 1 ? p : -p;
            if (step == 2) pivots[k + 1] = -p;
            k += step;
        }
        return info;
    }

    // Rows and columns p < q of the matrix that begins at k.
    void exchange(int64_t k, int64_t p, int64_t q, int64_t step) {
        for (int64_t i = q + 1; i < n_; ++i) std::swap(at(i, p), at(i, q));
        for (int64_t i = p + 1; i < q; ++i) {
            const T x = at(i, p);
            at(i, p) = mirrored(at(q, i));
            at(q, i) = mirrored(x);
        }
        at(q, p) = mirrored(at(q, p));
        std::swap(at(p, p), at(q, q));
        if (step == 2) std::swap(at(k + 1, k), at(q, k));
    }

    void eliminate_one(int64_t k) {
        const T pivot = at(k, k);
        for (int64_t j = k + 1; j < n_; ++j) {
            const T factor = mirrored(at(j, k)) / pivot;
            for (int64_t i = j; i < n_; ++i) at(i, j) -= at(i, k) * factor;
        }
        for (int64_t i = k + 1; i < n_; ++i) at(i, k) /= pivot;
    }

    // Rows (x, y) of two columns become those of L, (x, y) D^-1 with D = [[a, b'], [b, c]], b' = b or its conjugate. |b| is
    // large beside a and c, and everything is divided by it first.
    void eliminate_two(int64_t k) {
        const T b = at(k + 1, k), mirror = mirrored(b), a = at(k, k) / b, c = at(k + 1, k + 1) / mirror;
        const T scale = T(1) / (a * c - T(1));
        std::vector<T> first(static_cast<size_t>(n_)), second(first.size());
        for (int64_t i = k + 2; i < n_; ++i) {
            const T x = at(i, k), y = at(i, k + 1);
            first[static_cast<size_t>(i)] = scale * (c * (x / b) - y / mirror);
            second[static_cast<size_t>(i)] = scale * (a * (y / mirror) - x / b);
        }
        for (int64_t j = k + 2; j < n_; ++j)
            for (int64_t i = j; i < n_; ++i)
                at(i, j) -= first[static_cast<size_t>(i)] * mirrored(at(j, k)) +
                            second[static_cast<size_t>(i)] * mirrored(at(j, k + 1));
        for (int64_t i = k + 2; i < n_; ++i) {
            at(i, k) = first[static_cast<size_t>(i)];
            at(i, k + 1) = second[static_cast<size_t>(i)];
        }
    }

    T* a_;
    int64_t n_, ld_;
    bool hermitian_;
};

// Of the lower triangle; the others of LAPACK's cases are not asked for.
template <class T, bool kHermitian>
void factor(Flag, Int n, T* a, Int lda, int* pivots, T* work, Int lwork, int* info) {
    if (!answers_query(lwork, work)) *info = Elimination<T>::run(a, *n, *lda, kHermitian, pivots);
}

}  // namespace

template <class T>
SymmetricFactorization<T>* ldl_routine(bool hermitian) {
    return hermitian ? factor<T, true> : factor<T, false>;
}
template SymmetricFactorization<float>* ldl_routine<float>(bool);
template SymmetricFactorization<double>* ldl_routine<double>(bool);
template SymmetricFactorization<complex64>* ldl_routine<complex64>(bool);
template SymmetricFactorization<complex128>* ldl_routine<complex128>(bool);

}  // namespace wengert::kernels::portable
