// Scans on the CPU (kernels/reductions/scan.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/sorting/ordered_key.h"
#include "kernels/indexing/indexing.h"
#include "kernels/reductions/scan_kernels.h"

namespace wengert::kernels {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, int64_t,
                                std::conditional_t<std::is_floating_point_v<T>, double, complex128>>;

// [outer, n, inner]
struct Blocks {
    int64_t outer = 1, n = 1, inner = 1;
    Blocks(const Tensor& t, int64_t dim) {
        for (int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= t.sizes()[d];
    }
};

// out = running f(accumulator, element), the accumulator wide. Neighbouring columns advance together; so do four rows,
// because each addition waits for the one before it.
template <class T, class F>
void scan(const Tensor& in, const Tensor& out, const Blocks& b, Wide<T> start, F f) {
    const T* from = in.data_as<T>();
    T* to = out.data_as<T>();
    if (b.inner == 1) {
        parallel_for(b.outer, units_of(b.n), [&](int64_t begin, int64_t end) {
            constexpr int64_t kTogether = 4;
            const T* in_row = from + begin * b.n;
            T* row = to + begin * b.n;
            int64_t o = begin;
            for (; o + kTogether <= end; o += kTogether, in_row += kTogether * b.n, row += kTogether * b.n) {
                Wide<T> acc[kTogether];
                std::fill_n(acc, kTogether, start);
                for (int64_t i = 0; i < b.n; ++i)
                    for (int64_t r = 0; r < kTogether; ++r) {
                        acc[r] = f(acc[r], static_cast<Wide<T>>(in_row[r * b.n + i]));
                        row[r * b.n + i] = static_cast<T>(acc[r]);
                    }
            }
            for (; o < end; ++o) {
                Wide<T> acc = start;
                for (int64_t i = 0; i < b.n; ++i) {
                    acc = f(acc, static_cast<Wide<T>>(*in_row++));
                    *row++ = static_cast<T>(acc);
                }
            }
        });
        return;
    }
    // Some columns of one block after the other.
    constexpr int64_t kColumns = 256;
    const int64_t parts = (b.inner + kColumns - 1) / kColumns;
    parallel_for(b.outer * parts, units_of(b.n * std::min(b.inner, kColumns)), [&](int64_t begin, int64_t end) {
        Wide<T> acc[kColumns];
        for (int64_t p = begin; p < end; ++p) {
            const int64_t first = p % parts * kColumns, columns = std::min(kColumns, b.inner - first);
            int64_t at = p / parts * b.n * b.inner + first;
            std::fill_n(acc, columns, start);
            for (int64_t i = 0; i < b.n; ++i, at += b.inner)
                for (int64_t c = 0; c < columns; ++c) {
                    acc[c] = f(acc[c], static_cast<Wide<T>>(from[at + c]));
                    to[at + c] = static_cast<T>(acc[c]);
                }
        }
    });
}

struct Plus {
    template <class A>
    A operator()(A a, A x) const {
        if constexpr (std::is_integral_v<A>)
            return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(x));
        else
            return a + x;
    }
};
struct Times {
    template <class A>
    A operator()(A a, A x) const {
        if constexpr (std::is_integral_v<A>)
            return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(x));
        else
            return a * x;
    }
};

// Zero where a factor is, whatever the other one.
template <class W>
W chain(W a, W x) {
    return a == W(0) || x == W(0) ? W(0) : a * x;
}

// Of y_i = x_0 ... x_i: with S_i = g_i + x_{i+1} S_{i+1}, what the elements from i on make of the products before them, the
// gradient is x_0 ... x_{i-1} S_i. Nothing is divided. Some lines advance together.
template <class T>
void cumprod_backward(const Tensor& out, const Tensor& grad, const Tensor& in, const Blocks& b) {
    using W = Wide<T>;
    const T *g = grad.data_as<T>(), *x = in.data_as<T>();
    T* to = out.data_as<T>();
    const auto factor = [x](int64_t i) {
        if constexpr (std::is_floating_point_v<T>)
            return static_cast<W>(x[i]);
        else
            return std::conj(static_cast<W>(x[i]));
    };
    parallel_for(b.outer * b.inner, units_of(b.n), [&](int64_t begin, int64_t end) {
        constexpr int64_t kTogether = 8;
        std::vector<W> before(static_cast<size_t>(b.n * kTogether));
        for (int64_t first = begin; first < end; first += kTogether) {
            const int64_t lines = std::min(kTogether, end - first);
            int64_t at[kTogether];
            W acc[kTogether];
            for (int64_t r = 0; r < lines; ++r) at[r] = (first + r) / b.inner * b.n * b.inner + (first + r) % b.inner;
            std::fill_n(acc, kTogether, W(1));
            for (int64_t i = 0; i < b.n; ++i)
                for (int64_t r = 0; r < lines; ++r) {
                    before[static_cast<size_t>(i * kTogether + r)] = acc[r];
                    acc[r] = chain(acc[r], factor(at[r] + i * b.inner));
                }
            std::fill_n(acc, kTogether, W(0));
            for (int64_t i = b.n - 1; i >= 0; --i)
                for (int64_t r = 0; r < lines; ++r) {
                    const int64_t e = at[r] + i * b.inner;
                    const W from_here = static_cast<W>(g[e]) + acc[r];
                    to[e] = static_cast<T>(chain(before[static_cast<size_t>(i * kTogether + r)], from_here));
                    acc[r] = chain(from_here, factor(e));
                }
        }
    });
}

template <bool kMax>
void extremes(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
    const int64_t n = line_size(self, dim), step = line_stride(self, dim), out_step = line_stride(values, dim);
    dispatch_ordered(self.dtype(), kMax ? "cummax" : "cummin", [&]<class T> {
        const auto line = [&](const std::array<int64_t, 2>& at) {
            const T* in = self.data_as<T>() + at[0];
            T* value = values.data_as<T>() + at[1];
            int64_t* index = indices.data_as<int64_t>() + at[1];
            T best = in[0];
            int64_t where = 0;
            for (int64_t i = 0; i < n; ++i) {
                T x = in[i * step];
                if (x != x || (best == best && (kMax ? x >= best : x <= best))) {
                    best = x;
                    where = i;
                }
                value[i * out_step] = best;
                index[i * out_step] = where;
            }
        };
        for_each_line<2>(self.sizes(), {self.strides(), values.strides()}, dim, [&] { return line; });
    });
}

double add_in_log(double a, double x) {
    if (std::isnan(a) || std::isnan(x)) return a + x;
    double high = std::max(a, x), low = std::min(a, x);
    return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

// The logarithm of the sum has many values; of them the one whose imaginary part is nearest to 0.
complex128 add_in_log(complex128 a, complex128 x) {
    const complex128 high = x.real() > a.real() ? x : a, low = x.real() > a.real() ? a : x;
    if (std::isinf(low.real()) && low.real() < 0) return high;
    const complex128 sum = high + std::log(1.0 + std::exp(low - high));
    return {sum.real(), std::remainder(sum.imag(), 2 * std::numbers::pi)};
}

// The product before each element times that behind it. Among finite elements nothing follows a product that is 0: it stays,
// whatever it meets, also where the other overflows.
template <class T>
void products_of_others(const Tensor& in, const Tensor& out) {
    const int64_t n = in.size(-1);
    parallel_for(in.numel() / n, units_of(2 * n), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const T* from = in.data_as<T>() + row * n;
            T* to = out.data_as<T>() + row * n;
            int infinite = 0;
            for (int64_t i = 0; i < n; ++i) infinite |= !(std::abs(from[i]) <= std::numeric_limits<T>::max());
            const auto ends = [=](Wide<T> product) { return product == 0 && !infinite; };
            const auto times = [=](Wide<T> a, Wide<T> b) { return ends(a) || ends(b) ? Wide<T>(0) : a * b; };
            Wide<T> product = 1;
            int64_t i = 0;
            for (; i < n && !ends(product); product = times(product, from[i]), ++i) to[i] = static_cast<T>(product);
            std::fill(to + i, to + n, T(0));
            product = 1;
            for (i = n - 1; i >= 0 && !ends(product); product = times(product, from[i]), --i)
                to[i] = static_cast<T>(times(to[i], product));
            std::fill(to, to + i + 1, T(0));
        }
    });
}

}  // namespace

using Scan = void(Result, const Tensor&, int64_t);
using Extremes = void(Result, Result, const Tensor&, int64_t);

constinit DeviceKernel<Scan> cumsum_kernel{
    "cumsum", [](Result out, const Tensor& in, int64_t dim) {
        dispatch(in.dtype(), [&]<class T> { scan<T>(in, out, Blocks(in, dim), Wide<T>(0), Plus{}); });
    }};
constinit DeviceKernel<Scan> cumprod_kernel{
    "cumprod", [](Result out, const Tensor& in, int64_t dim) {
        dispatch(in.dtype(), [&]<class T> { scan<T>(in, out, Blocks(in, dim), Wide<T>(1), Times{}); });
    }};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, int64_t)> cumprod_backward_kernel{
    "cumprod_backward", [](Result out, const Tensor& grad, const Tensor& in, int64_t dim) {
        dispatch_inexact(in.dtype(), "cumprod", [&]<class T> { cumprod_backward<T>(out, grad, in, Blocks(in, dim)); });
    }};
constinit DeviceKernel<Scan> logcumsumexp_kernel{
    "logcumsumexp", [](Result out, const Tensor& in, int64_t dim) {
        dispatch_inexact(in.dtype(), "logcumsumexp", [&]<class T> {
            const Wide<T> nothing = -std::numeric_limits<double>::infinity();
            scan<T>(in, out, Blocks(in, dim), nothing, [](Wide<T> a, Wide<T> x) { return add_in_log(a, x); });
        });
    }};
constinit DeviceKernel<Extremes> cummax_kernel{"cummax", [](Result values, Result indices, const Tensor& in,
                                                            int64_t dim) { extremes<true>(values, indices, in, dim); }};
constinit DeviceKernel<Extremes> cummin_kernel{
    "cummin",
    [](Result values, Result indices, const Tensor& in, int64_t dim) { extremes<false>(values, indices, in, dim); }};

constinit DeviceKernel<void(Result, const Tensor&)> products_of_others_kernel{
    "products_of_others", [](Result out, const Tensor& in) {
        dispatch_floating(in.dtype(), "products_of_others", [&]<class T> { products_of_others<T>(in, out); });
    }};

}  // namespace wengert::kernels
