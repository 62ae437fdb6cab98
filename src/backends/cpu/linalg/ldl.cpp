// Bunch and Kaufman's decomposition of symmetric and Hermitian matrices, indefinite ones too (Some stable methods for
// calculating inertia and solving symmetric linear systems, 1977): A = L D L^T with blocks of one or two on the diagonal of
// D. The format is that of LAPACK's sytrf with the lower triangle: D and the columns of L in one matrix, where rows are
// exchanged from the column on that is eliminated, not before; pivots[k] = p > 0 exchanges k with p - 1, and two equal
// negative ones stand for a block of two, whose second row was exchanged with -p - 1.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "backends/cpu/linalg/lapack.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

template <class T>
class Elimination {
    using R = real_of<T>;

public:
    // The lower triangle of row-major `a` [n,n] is read and replaced. Returns the place of a pivot that is 0, or 0.
    static int32_t run(T* a, int64_t n, bool hermitian, int32_t* pivots) {
        return Elimination{a, n, hermitian && is_complex_type<T>}.eliminate(pivots);
    }

private:
    Elimination(T* a, int64_t n, bool hermitian) : a_(a), n_(n), hermitian_(hermitian) {}

    T& at(int64_t i, int64_t j) { return a_[i * n_ + j]; }
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
    int64_t n_;
    bool hermitian_;
};

void factor(Result ld, Result pivots, Result info, bool hermitian) {
    const int64_t n = cols(ld);
    dispatch_inexact(ld->dtype(), "linalg.ldl_factor", [&]<class T> {
        for (int64_t i = 0; i < batch_count(ld); ++i) {
            T* a = ld->data_as<T>() + i * n * n;
            for (int64_t r = 0; r < n; ++r) std::fill(a + r * n + r + 1, a + (r + 1) * n, T(0));
            info->data_as<int32_t>()[i] = Elimination<T>::run(a, n, hermitian, pivots->data_as<int32_t>() + i * n);
        }
    });
}

void layout(Result rows_of, Result packed_in, Result blocks_of, Result order_of, Result inverse_of,
            const Tensor& pivots) {
    const int64_t n = cols(rows_of);
    const Tensor given = contiguous(pivots);
    for (int64_t m = 0; m < batch_count(rows_of); ++m) {
        const int32_t* p = given.data_as<int32_t>() + m * n;
        int64_t *rows = rows_of->data_as<int64_t>() + m * n * n, *packed = packed_in->data_as<int64_t>() + m * n * n;
        int64_t *order = order_of->data_as<int64_t>() + m * n, *inverse = inverse_of->data_as<int64_t>() + m * n;
        bool* blocks = blocks_of->data_as<bool>() + m * n * n;
        // Which step a column is eliminated in, and the exchanges in order.
        std::vector<std::pair<int64_t, int64_t>> exchanges(static_cast<size_t>(n));  // after column k: k with ...
        for (int64_t k = 0; k < n; ++k) exchanges[static_cast<size_t>(k)] = {k, k};
        for (int64_t k = 0; k < n;) {
            const bool two = p[k] < 0;
            const int64_t at = two ? k + 1 : k, with = std::abs(int64_t{p[k]}) - 1;
            check(with >= at && with < n && at < n && (!two || p[k + 1] == p[k]), ErrorKind::Runtime,
                  "linalg.ldl_solve: pivots are not those of ldl_factor: ", p[k], " at ", k);
            exchanges[static_cast<size_t>(at)] = {at, with};
            for (int64_t i = k; i <= at; ++i)
                for (int64_t j = k; j <= at; ++j) blocks[i * n + j] = true;
            k = at + 1;
        }
        std::vector<int64_t> row(static_cast<size_t>(n));
        for (int64_t k = 0; k < n; ++k) {
            // Rows of column k as they end: exchanges of later blocks only.
            for (int64_t i = 0; i < n; ++i) row[static_cast<size_t>(i)] = i;
            int64_t next = k + 1;
            while (next < n && blocks[next * n + k]) ++next;
            for (int64_t j = next; j < n; ++j)
                std::swap(row[static_cast<size_t>(exchanges[static_cast<size_t>(j)].first)],
                          row[static_cast<size_t>(exchanges[static_cast<size_t>(j)].second)]);
            for (int64_t i = 0; i < n; ++i) {
                rows[i * n + k] = row[static_cast<size_t>(i)];
                packed[row[static_cast<size_t>(i)] * n + k] = i;
            }
        }
        for (int64_t i = 0; i < n; ++i) order[i] = i;
        for (const auto& [a, b] : exchanges) std::swap(order[a], order[b]);
        for (int64_t i = 0; i < n; ++i) inverse[order[i]] = i;
    }
}

}  // namespace

constinit DeviceKernel<void(Result, Result, Result, bool)> ldl_factor_kernel{"linalg_ldl_factor", factor};
constinit DeviceKernel<void(Result, Result, Result, Result, Result, const Tensor&)> ldl_layout_kernel{
    "ldl_layout", layout, HostWaits::ForErrors};

}  // namespace wengert::kernels
