// Singular values on the CPU. A^T = conj(V) S U^T, so LAPACK, which sees A^T in row-major memory, leaves V^H and U row-major.
#include <algorithm>
#include <cmath>

#include "backends/cpu/linalg/lapack.h"
#include "backends/cpu/linalg/reflections.h"
#include "kernels/linalg/error.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

void check_svd(const Tensor& self, int info, int64_t index) {
    if (info == 0) return;
    check_linalg(info > 0, "linalg.svd: ", batch_element(self, index),
                 "The algorithm failed to converge because the input matrix contained non-finite values.");
    check_linalg(
        false, "linalg.svd: ", batch_element(self, index),
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "singular values (error code: ",
        info, ").");
}

template <class T>
void fill_with_identities(const Tensor& t) {
    const int64_t n = cols(t);
    T* to = t.data_as<T>();
    std::fill(to, to + t.numel(), T(0));
    for (int64_t row = 0; row < batch_count(t) * rows(t); ++row) to[row * n + row % n] = T(1);
}

// Of up to so many rows and columns our own rotations find singular values sooner than a call of LAPACK returns. (Vectors are
// LAPACK's always: people know their signs.)
constexpr int64_t kJacobi = 4;

// Decompositions of matrices [m,n], m >= n, column-major, one after the other. Of those with many more rows than columns
// A = Q R, and R is decomposed; LAPACK does the same, but slower (see reflections.h), and looks at all elements for a scale.
template <class T>
class TallSvd {
    using R = real_of<T>;

public:
    TallSvd(int m, int n, char job)
        : m_(m),
          n_(n),
          job_(job),
          through_r_(job != 'A' && 6 * int64_t{m} >= 11 * int64_t{n} && int64_t{m} * n >= 4096),
          routines_(job == 'N' && m <= kJacobi ? routines_for<T>(n) : blas<T>()),
          iwork_(8 * int64_t{n}),
          rwork_(reals(m, n)),
          q_(through_r_ ? int64_t{m} * n : 0),
          r_(through_r_ ? 2 * int64_t{n} * n : 0),
          tau_(n),
          reflections_(m, n),
          workspace_(gesdd(m, nullptr, nullptr, nullptr, nullptr)),
          workspace_of_r_(gesdd(n, nullptr, nullptr, nullptr, nullptr)) {}

    // The info of gesdd; `a` is lost. u [m,n], or [m,m] of job 'A', and vh [n,n], column-major, unless the job is 'N'.
    int operator()(T* a, R* s, T* u, T* vh) {
        constexpr int kNotFinite = -4;  // as LAPACK says of NaN
        if (!through_r_ || !take_r(a))
            return is_finite(a, m_ * int64_t{n_}) ? workspace_.run(gesdd(m_, a, s, u, vh)) : kNotFinite;
        T* u_of_r = r_ + int64_t{n_} * n_;
        const int info = workspace_of_r_.run(gesdd(n_, r_, s, u_of_r, vh));
        if (job_ == 'N' || info != 0) return info;
        reflections_.form(n_, n_, q_, tau_);
        gemm<T>(T(1), column_major<const T>(q_, m_, n_, m_), column_major<const T>(u_of_r, n_, n_, n_), T(0),
                column_major(u, m_, n_, m_));
        return 0;
    }

private:
    static int64_t reals(int64_t m, int64_t n) {
        return is_complex_type<T> ? std::max(5 * n * n + 5 * n, 2 * m * n + 2 * n * n + n) : 0;
    }

    // Call of gesdd for `rows` rows.
    auto gesdd(int rows, T* a, R* s, T* u, T* vh) {
        return [=, this](T* work, const int* lwork, int* info) {
            T nothing{};
            T *left = job_ == 'N' ? &nothing : u, *right = job_ == 'N' ? &nothing : vh;
            auto call = [&](auto*... reals) {
                routines_.gesdd(&job_, &rows, &n_, a, &rows, s, left, &rows, right, &n_, work, lwork, reals...,
                                iwork_.data(), info);
            };
            if constexpr (is_complex_type<T>)
                call(rwork_.data());
            else
                call();
        };
    }

    // False if elements are not finite, or so large or small that sums of squares might not be.
    bool take_r(const T* a) {
        std::copy(a, a + int64_t{m_} * n_, q_.data());
        reflections_.factor(n_, q_, tau_);
        double largest = 0;
        for (int64_t j = 0; j < n_; ++j)
            for (int64_t i = 0; i < n_; ++i) {
                const T x = i <= j ? q_[j * m_ + i] : T(0);
                r_[j * n_ + i] = x;
                if (!std::isfinite(std::abs(x))) return false;
                largest = std::max(largest, static_cast<double>(std::abs(x)));
            }
        return largest > 1e-9 && largest < 1e9;
    }

    const int m_, n_;
    const char job_;
    const bool through_r_;
    const Blas<T>& routines_;
    const Scratch<int> iwork_;
    const Scratch<R> rwork_;
    const Scratch<T> q_, r_, tau_;
    const Reflections<T> reflections_;
    const Workspace<T> workspace_, workspace_of_r_;
};

// Of a matrix that is wide to LAPACK it takes twice the time: tall ones are given as they are, for their columns.
void svd(Result left, Result s, Result right, const Tensor& self, char job) {
    const int m = static_cast<int>(rows(self)), n = static_cast<int>(cols(self)), k = std::min(m, n);
    const int u_cols = job == 'A' ? m : k, vh_rows = job == 'A' ? n : k;
    const bool tall = m > n, vectors = job != 'N';
    const Tensor a = tall ? column_major_copy(self) : row_major_copy(self);
    Tensor u = left, vh = right;
    if (tall && vectors) {
        u = empty_column_major(batch_sizes(self), m, u_cols, self.dtype(), self.device());
        vh = empty_column_major(batch_sizes(self), vh_rows, n, self.dtype(), self.device());
    }
    dispatch_inexact(self.dtype(), "linalg.svd", [&]<class T> {
        if (k == 0) return fill_with_identities<T>(left), fill_with_identities<T>(right);
        TallSvd<T> decompose(std::max(m, n), k, job);
        for (int64_t i = 0; i < batch_count(self); ++i) {
            T* u_at = vectors ? u.data_as<T>() + i * m * u_cols : nullptr;
            T* vh_at = vectors ? vh.data_as<T>() + i * vh_rows * n : nullptr;
            check_svd(self,
                      decompose(a.data_as<T>() + i * m * n, s->data_as<real_of<T>>() + i * k, tall ? u_at : vh_at,
                                tall ? vh_at : u_at),
                      i);
        }
        if (!tall || !vectors) return;
        copy_into(left, u);
        copy_into(right, vh);
    });
}

}  // namespace

constinit DeviceKernel<void(Result, Result, Result, const Tensor&, char)> svd_kernel{"linalg_svd", svd,
                                                                                     HostWaits::ForErrors};

}  // namespace wengert::kernels
