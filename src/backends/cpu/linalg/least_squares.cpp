// Least squares on the CPU.
//
// Of matrices that have full rank beyond doubt A = Q R, and X = R^-1 Q^H B: a third of the work of the singular values, which
// decide about the others.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/lapack.h"
#include "backends/cpu/linalg/reflections.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// A^H, dense in `memory`.
template <class T>
Matrix<const T> adjoint_in(T* memory, Matrix<const T> a) {
    for (int64_t i = 0; i < a.cols; ++i)
        for (int64_t j = 0; j < a.rows; ++j) memory[i * a.rows + j] = conjugate(a(j, i));
    return row_major<const T>(memory, a.cols, a.rows);
}

template <class T>
void add_squares(Matrix<const T> rest, real_of<T>* squares) {
    for (int64_t i = 0; i < rest.rows; ++i)
        for (int64_t j = 0; j < rest.cols; ++j) squares[j] += std::norm(rest(i, j));
}

// Systems of matrices [m,n], m >= n, with right sides [m,k].
template <class T>
class FullRank {
public:
    FullRank(int64_t m, int64_t n, int64_t k)
        : m_(m), n_(n), k_(k), reflections_(m, n), q_(m * n), tau_(n), inverse_(n * n), right_(m * k) {}

    // False, and nothing done, unless all singular values exceed cut times the greatest. All are row-major; `squares`, where
    // it is given, grows by those of A X - B.
    bool operator()(Matrix<const T> a, double cut, Matrix<const T> b, Matrix<T> x, real_of<T>* squares) {
        for (int64_t i = 0; i < m_; ++i)
            for (int64_t j = 0; j < n_; ++j) q_[j * m_ + i] = a(i, j);
        reflections_.factor(n_, q_, tau_);
        const double certain = std::max(cut, static_cast<double>(m_) * std::numeric_limits<real_of<T>>::epsilon());
        if (!(2 * certain * condition() < 1)) return false;
        const Matrix<T> c = row_major(right_.data(), m_, k_);
        std::copy(b.data, b.data + m_ * k_, c.data);
        reflections_.apply_adjoint(n_, q_, tau_, c);
        // Row-major memory is to BLAS the transpose: X^T R^T = C^T.
        if (k_ > 0) solve("R", "T", k_, n_, c.data, k_);
        std::copy(c.data, c.data + n_ * k_, x.data);
        if (squares) add_squares<T>(c.block(n_, 0, m_ - n_, k_), squares);
        return true;
    }

private:
    // B := B op(R)^-1 or op(R)^-1 B, column-major, [rows,cols]
    void solve(Flag side, Flag trans, int64_t rows, int64_t cols, T* b, int64_t step) const {
        const int m = static_cast<int>(rows), n = static_cast<int>(cols), ldr = static_cast<int>(m_),
                  ldb = static_cast<int>(step);
        const T one(1);
        routines_for<T>(n_).trsm(side, "U", trans, "N", &m, &n, &one, q_, &ldr, b, &ldb);
    }

    // |R| |R^-1|, of the square roots of sums of squares: no less than the ratio of the extreme singular values.
    double condition() const {
        std::fill(inverse_.data(), inverse_.data() + n_ * n_, T(0));
        for (int64_t j = 0; j < n_; ++j) inverse_[j * n_ + j] = T(1);
        solve("L", "N", n_, n_, inverse_, n_);
        double of_r = 0, of_inverse = 0;
        for (int64_t j = 0; j < n_; ++j)
            for (int64_t i = 0; i <= j; ++i) {
                of_r += static_cast<double>(std::norm(q_[j * m_ + i]));
                of_inverse += static_cast<double>(std::norm(inverse_[j * n_ + i]));
            }
        return std::sqrt(of_r * of_inverse);
    }

    const int64_t m_, n_, k_;
    const Reflections<T> reflections_;
    const Scratch<T> q_, tau_, inverse_, right_;
};

// X = V S^+ U^H B through the SVD, singular values up to cut * largest counted as zero. B [m,k] -> X [n,k]
template <class T>
int64_t pseudo_solve(Matrix<const T> u, const real_of<T>* s, Matrix<const T> vh, Matrix<const T> b, double cut,
                     Matrix<T> x) {
    int64_t k = u.cols, rank = 0;
    while (rank<k&& static_cast<double>(s[rank])> cut * static_cast<double>(s[0])) ++rank;
    Scratch<T> coefficients(rank * b.cols), adjoint(std::max(u.rows, vh.cols) * rank);
    const Matrix<T> c = row_major(coefficients.data(), rank, b.cols);
    gemm<T>(T(1), adjoint_in<T>(adjoint, u.block(0, 0, u.rows, rank)), b, T(0), c);
    for (int64_t i = 0; i < rank; ++i)
        for (int64_t j = 0; j < b.cols; ++j) c(i, j) /= s[i];
    gemm<T>(T(1), adjoint_in<T>(adjoint, vh.block(0, 0, rank, vh.cols)), c, T(0), x);
    return rank;
}

// What of B lies outside the range of A: |B|^2 - |U^H B|^2, computed as the norm of the difference.
template <class T>
void add_squares_outside(Matrix<const T> u, Matrix<const T> b, real_of<T>* squares) {
    Scratch<T> c(u.cols * b.cols), rest(b.rows * b.cols), uh(u.cols * u.rows);
    gemm<T>(T(1), adjoint_in<T>(uh, u), b, T(0), row_major(c.data(), u.cols, b.cols));
    std::copy(b.data, b.data + b.rows * b.cols, rest.data());
    gemm<T>(T(-1), u, row_major<const T>(c.data(), u.cols, b.cols), T(1), row_major(rest.data(), b.rows, b.cols));
    add_squares(row_major<const T>(rest.data(), b.rows, b.cols), squares);
}

void least_squares(Result x, Result ranks, Result s, Result squares, const Tensor& self, const Tensor& b, double cut) {
    const IntSpan batch = batch_sizes(x);
    const int64_t m = rows(self), n = cols(self), k = cols(b), r = std::min(m, n), count = ranks->numel();
    const Tensor right = row_major_copy(b, batch), left = row_major_copy(self, batch);
    dispatch_inexact(self.dtype(), "linalg.lstsq", [&]<class T> {
        using R = real_of<T>;
        const auto at = [](auto* data, int64_t i, int64_t height, int64_t width) {
            return row_major(data + i * height * width, height, width);
        };
        const auto right_at = [&](int64_t i) { return at(right.data_as<const T>(), i, m, k); };
        const auto x_at = [&](int64_t i) { return at(x->data_as<T>(), i, n, k); };
        const auto squares_at = [&](int64_t i) { return squares->data_as<R>() + i * k; };
        std::vector<int64_t> others;
        if (m >= n && n > 0 && !s->defined()) {
            FullRank<T> solve(m, n, k);
            for (int64_t i = 0; i < count; ++i)
                if (solve(at(left.data_as<const T>(), i, m, n), cut, right_at(i), x_at(i),
                          squares->defined() ? squares_at(i) : nullptr))
                    ranks->data_as<int64_t>()[i] = n;
                else
                    others.push_back(i);
        } else {
            for (int64_t i = 0; i < count; ++i) others.push_back(i);
        }
        if (others.empty()) return;
        const Tensor values = s->defined() ? *s : empty(joined(batch, {r}), real_dtype(self.dtype()));
        const Tensor u = empty(joined(batch, {m, r}), self.dtype()), vh = empty(joined(batch, {r, n}), self.dtype());
        if (r > 0) svd_kernel(u, values, vh, left, 'S');
        for (int64_t i : others) {
            const auto u_at = at(u.data_as<const T>(), i, m, r);
            ranks->data_as<int64_t>()[i] = pseudo_solve<T>(
                u_at, values.data_as<R>() + i * r, at(vh.data_as<const T>(), i, r, n), right_at(i), cut, x_at(i));
            if (squares->defined()) add_squares_outside<T>(u_at, right_at(i), squares_at(i));
        }
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Result, Result, Result, const Tensor&, const Tensor&, double)> lstsq_kernel{
    "linalg_lstsq", least_squares, HostWaits::ForErrors};
constinit DeviceKernel<bool(const Tensor&, int64_t)> all_have_rank_kernel{
    "all_have_rank", [](const Tensor& ranks, int64_t rank) {
        const int64_t* all = ranks.data_as<int64_t>();
        return std::all_of(all, all + ranks.numel(), [rank](int64_t r) { return r == rank; });
    }};

}  // namespace wengert::kernels
