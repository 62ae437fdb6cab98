// Products as the chain rule needs them, on the CPU (kernels/products/chain_products.h): mended where they are not finite.
#include <cmath>
#include <complex>
#include <functional>
#include <limits>

#include "backends/cpu/scalar_math.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/nn/convolution.h"
#include "kernels/products/chain_products_kernels.h"
#include "kernels/products/matmul.h"
#include "kernels/reductions/nan_check.h"
#include "kernels/shape/shape.h"

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

void mend(const Tensor& plain, const Tensor& a, const Tensor& b, const Product& product) {
    dispatch_inexact(plain.dtype(), "chain", [&]<class T> { copy_into(plain, careful<T>(plain, a, b, product)); });
}

// --- Systems

int64_t rows(const Tensor& t) { return t.sizes()[t.sizes().size() - 2]; }
int64_t cols(const Tensor& t) { return t.sizes().back(); }

// In rows, in memory of its own.
Tensor copy_as(const Tensor& t, IntSpan sizes) {
    Tensor out = empty(sizes, t.dtype());
    copy_into(out, t);
    return out;
}

// A column of zeros on the right has the solution zero.
void mend_solution(const Tensor& solution, const Tensor& B) {
    const Tensor out = copy_as(solution, solution.sizes()), b = copy_as(B, solution.sizes());
    const int64_t n = rows(out), k = cols(out);
    dispatch_inexact(out.dtype(), "linalg.solve", [&]<class T> {
        T* x = out.data_as<T>();
        const T* right = b.data_as<T>();
        for (int64_t i = 0; i < out.numel() / (n * k); ++i, x += n * k, right += n * k)
            for (int64_t j = 0; j < k; ++j) {
                bool zero = true;
                for (int64_t r = 0; r < n; ++r) zero &= right[r * k + j] == T(0);
                for (int64_t r = 0; zero && r < n; ++r) x[r * k + j] = 0;
            }
    });
    copy_into(solution, out);
}

// Unknowns that are zero add nothing to those that are found after them.
void solve_carefully(const Tensor& solution, const Tensor& A, const Tensor& B, bool upper, bool unitriangular) {
    Dims matrices(IntSpan(solution.sizes()).first(solution.sizes().size() - 2));
    matrices.push_back(rows(solution));
    matrices.push_back(rows(solution));
    const Tensor a = copy_as(A, matrices), x = copy_as(B, solution.sizes());
    const int64_t n = rows(x), k = cols(x);
    dispatch_inexact(x.dtype(), "linalg.solve_triangular", [&]<class T> {
        const T* matrix = a.data_as<T>();
        T* to = x.data_as<T>();
        for (int64_t i = 0; i < x.numel() / (n * k); ++i, matrix += n * n, to += n * k)
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
    copy_into(solution, x);
}

}  // namespace

using Convolution = void(Result, const Tensor&, const Tensor&, IntSpan, IntSpan, IntSpan, int64_t);
using ConvolutionBack = void(Result, const Tensor&, const Tensor&, IntSpan, IntSpan, IntSpan, IntSpan, int64_t);

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&)> matmul_chain_kernel{
    "matmul_chain", [](Result out, const Tensor& a, const Tensor& b) {
        if (!all_finite(out)) [[unlikely]]
            mend(out, a, b, matmul);
    }};

constinit DeviceKernel<Convolution> convolution_chain_kernel{
    "convolution_chain", [](Result out, const Tensor& input, const Tensor& weight, IntSpan stride, IntSpan padding,
                            IntSpan dilation, int64_t groups) {
        if (all_finite(out)) [[likely]]
            return;
        mend(out, input, weight, [&](const Tensor& x, const Tensor& w) {
            return convolution(x, w, {}, stride, padding, dilation, groups);
        });
    }};

constinit DeviceKernel<ConvolutionBack> convolution_input_chain_kernel{
    "convolution_input_chain", [](Result out, const Tensor& grad_output, const Tensor& weight, IntSpan input_sizes,
                                  IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
        if (all_finite(out)) [[likely]]
            return;
        mend(out, grad_output, weight, [&](const Tensor& g, const Tensor& w) {
            return convolution_input(g, w, input_sizes, stride, padding, dilation, groups);
        });
    }};

constinit DeviceKernel<ConvolutionBack> convolution_weight_chain_kernel{
    "convolution_weight_chain", [](Result out, const Tensor& grad_output, const Tensor& input, IntSpan weight_sizes,
                                   IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
        if (all_finite(out)) [[likely]]
            return;
        mend(out, grad_output, input, [&](const Tensor& g, const Tensor& x) {
            return convolution_weight(g, x, weight_sizes, stride, padding, dilation, groups);
        });
    }};

constinit DeviceKernel<void(Result, const Tensor&)> solve_chain_kernel{"solve_chain", [](Result out, const Tensor& B) {
                                                                           if (!all_finite(out)) [[unlikely]]
                                                                               mend_solution(out, B);
                                                                       }};

constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, bool, bool, bool)> solve_triangular_chain_kernel{
    "solve_triangular_chain",
    [](Result out, const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
        if (all_finite(out)) [[likely]]
            return;
        if (left) return solve_carefully(out, A, B, upper, unitriangular);
        // X A = B is A^T X^T = B^T
        solve_carefully(transpose(out, -2, -1), transpose(A, -2, -1), transpose(B, -2, -1), !upper, unitriangular);
    }};

}  // namespace wengert::kernels
