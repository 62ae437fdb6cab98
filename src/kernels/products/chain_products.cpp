#include "kernels/products/chain_products.h"

#include <cmath>
#include <complex>
#include <functional>
#include <limits>

#include "backends/cpu/scalar_math.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linalg/common.h"
#include "kernels/linalg/linalg.h"
#include "kernels/nn/convolution.h"
#include "kernels/products/matmul.h"
#include "kernels/reductions/nan_check.h"

namespace wengert::kernels {
namespace {

using Product = std::function<Tensor(const Tensor&, const Tensor&)>;

template <class T>
bool finite(T x) {
    return std::isfinite(x);
}
template <class T>
bool finite(std::complex<T> x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
}

template <class T, class F>
Tensor mapped(const Tensor& t, F f) {
    const Tensor in = contiguous(t);
    Tensor out = empty(in.sizes(), in.dtype());
    const T* from = in.data_as<T>();
    T* to = out.data_as<T>();
    for (int64_t i = 0; i < in.numel(); ++i) to[i] = T(f(from[i]));
    return out;
}

// What a factor contributes, each as a factor of its own.
template <class T>
struct Indicators {
    Tensor finite_part, nonzero, unknown;  // the elements that are finite; where it is not 0; where it is NaN
    Tensor sign, infinite;                 // -1, 0 or 1; the same where it is infinite, and 0 elsewhere
    explicit Indicators(const Tensor& t)
        : finite_part(mapped<T>(t, [](T x) { return finite(x) ? x : T(0); })),
          nonzero(mapped<T>(t, [](T x) { return x != T(0); })) {
        if constexpr (std::is_floating_point_v<T>) {
            auto sign_of = [](T x) { return (x > 0) - (x < 0); };
            unknown = mapped<T>(t, [](T x) { return std::isnan(x); });
            sign = mapped<T>(t, sign_of);
            infinite = mapped<T>(t, [=](T x) { return std::isinf(x) ? sign_of(x) : 0; });
        } else {  // an infinite complex number has no sign: a term with one is what the plain product says
            unknown = mapped<T>(t, [](T x) { return !finite(x); });
        }
    }
};

template <class T>
Tensor magnitude(const Tensor& t) {
    return mapped<T>(t, [](T x) { return std::abs(x); });
}

template <class T>
Tensor careful(const Tensor& plain, const Tensor& a, const Tensor& b, const Product& product) {
    const Indicators<T> x(a), y(b);
    Tensor out = contiguous(product(x.finite_part, y.finite_part));
    auto sum_of = [&](const Tensor& xa, const Tensor& yb, const Tensor& xc, const Tensor& yd) {
        Tensor total = contiguous(product(xa, yb));
        const Tensor more = contiguous(product(xc, yd));
        for (int64_t i = 0; i < total.numel(); ++i) total.data_as<T>()[i] += more.data_as<T>()[i];
        return total;
    };
    T* result = out.data_as<T>();
    const Tensor unknown = sum_of(x.unknown, y.nonzero, x.nonzero, y.unknown);  // how many terms are NaN
    if constexpr (std::is_floating_point_v<T>) {
        constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
        const Tensor balance =
            sum_of(x.infinite, y.sign, x.sign, y.infinite);  // those that are inf less those that are -inf
        const Tensor count =
            sum_of(magnitude<T>(x.infinite), magnitude<T>(y.sign), magnitude<T>(x.sign), magnitude<T>(y.infinite));
        for (int64_t i = 0; i < out.numel(); ++i) {
            const T n = count.data_as<T>()[i], d = balance.data_as<T>()[i];
            if (unknown.data_as<T>()[i] > T(0.5))
                result[i] = nan;
            else if (n > T(0.5))
                result[i] = n - std::abs(d) > T(0.5) ? nan : d > 0 ? infinity : -infinity;
        }
    } else {
        const Tensor raw = contiguous(plain);
        for (int64_t i = 0; i < out.numel(); ++i)
            if (unknown.data_as<T>()[i].real() > 0.5) result[i] = raw.data_as<T>()[i];
    }
    return out;
}

Tensor chained(const Tensor& a, const Tensor& b, const Product& product, const Tensor& plain) {
    if (all_finite(plain)) [[likely]]
        return plain;
    Tensor out;
    dispatch_inexact(plain.dtype(), "chain", [&]<class T> { out = careful<T>(plain, a, b, product); });
    return out;
}

}  // namespace

Tensor matmul_chain(const Tensor& self, const Tensor& other) {
    Tensor plain = matmul(self, other);
    if (all_finite(plain)) [[likely]]
        return plain;
    return chained(self, other, matmul, plain);
}

Tensor convolution_chain(const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding, IntSpan dilation,
                         int64_t groups) {
    auto product = [&](const Tensor& x, const Tensor& w) {
        return convolution(x, w, {}, stride, padding, dilation, groups);
    };
    return chained(input, weight, product, product(input, weight));
}

Tensor convolution_input_chain(const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes, IntSpan stride,
                               IntSpan padding, IntSpan dilation, int64_t groups) {
    auto product = [&](const Tensor& g, const Tensor& w) {
        return convolution_input(g, w, input_sizes, stride, padding, dilation, groups);
    };
    return chained(grad_output, weight, product, product(grad_output, weight));
}

Tensor convolution_weight_chain(const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes, IntSpan stride,
                                IntSpan padding, IntSpan dilation, int64_t groups) {
    auto product = [&](const Tensor& g, const Tensor& x) {
        return convolution_weight(g, x, weight_sizes, stride, padding, dilation, groups);
    };
    return chained(grad_output, input, product, product(grad_output, input));
}

// --- Systems

Tensor solve_chain(const Tensor& A, const Tensor& B) {
    Tensor out = linalg_solve(A, B, true, false);  // A may be singular to other pivots than those of its transpose
    if (all_finite(out)) [[likely]]
        return out;
    out = linalg::row_major_copy(out);
    const Tensor b = linalg::row_major_copy(B, linalg::batch_sizes(out));
    const int64_t n = linalg::rows(out), k = linalg::cols(out);
    dispatch_inexact(out.dtype(), "linalg.solve", [&]<class T> {
        T* x = out.data_as<T>();
        const T* right = b.data_as<T>();
        for (int64_t i = 0; i < linalg::batch_count(out); ++i, x += n * k, right += n * k)
            for (int64_t j = 0; j < k; ++j) {
                bool zero = true;
                for (int64_t r = 0; r < n; ++r) zero &= right[r * k + j] == T(0);
                for (int64_t r = 0; zero && r < n; ++r) x[r * k + j] = 0;
            }
    });
    return out;
}

Tensor solve_triangular_chain(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
    Tensor out = linalg_solve_triangular(A, B, upper, left, unitriangular);
    if (all_finite(out)) [[likely]]
        return out;
    if (!left)  // X A = B is A^T X^T = B^T
        return linalg::matrix_transposed(solve_triangular_chain(
            linalg::matrix_transposed(A), linalg::matrix_transposed(B), !upper, true, unitriangular));
    const IntSpan batch = linalg::batch_sizes(out);
    const Tensor a = linalg::row_major_copy(A, batch);
    Tensor x = linalg::row_major_copy(B, batch);
    const int64_t n = linalg::rows(x), k = linalg::cols(x);
    dispatch_inexact(x.dtype(), "linalg.solve_triangular", [&]<class T> {
        const T* matrix = a.data_as<T>();
        T* to = x.data_as<T>();
        for (int64_t i = 0; i < linalg::batch_count(x); ++i, matrix += n * n, to += n * k)
            for (int64_t step = 0; step < n; ++step) {
                const int64_t r = upper ? n - 1 - step : step;
                for (int64_t j = 0; j < k; ++j) {
                    T& unknown = to[r * k + j];
                    for (int64_t c = upper ? r + 1 : 0; c < (upper ? n : r); ++c)
                        unknown -= scalar::chain(to[c * k + j], matrix[r * n + c]);
                    if (!unitriangular && unknown != T(0)) unknown /= matrix[r * n + r];
                }
            }
    });
    return x;
}

}  // namespace wengert::kernels
