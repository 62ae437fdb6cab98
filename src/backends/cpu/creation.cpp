// Tensors made from numbers, on the CPU (kernels/creation.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cpu/scalar/special.h"
#include "kernels/creation_kernels.h"

namespace wengert::kernels {
namespace {

// out[i] = f(i)
template <class F>
void fill_by_index(const Tensor& out, F&& f) {
    dispatch(out.dtype(), [&]<class T> {
        T* p = out.data_as<T>();
        for (int64_t i = 0; i < out.numel(); ++i) p[i] = f.template operator()<T>(i);
    });
}

void arange(const Tensor& out, const Scalar& start, const Scalar& step, bool integral) {
    fill_by_index(out, [&]<class T>(int64_t i) {
        if (!integral) return static_cast<T>(start.to<double>() + static_cast<double>(i) * step.to<double>());
        if constexpr (std::is_same_v<T, uint64_t>)
            return start.to<T>() + static_cast<T>(i) * step.to<T>();
        else
            return static_cast<T>(start.to<int64_t>() + i * step.to<int64_t>());
    });
}

void range(const Tensor& out, double start, double step) {
    fill_by_index(out, [&]<class T>(int64_t i) { return Scalar(start + step * static_cast<double>(i)).to<T>(); });
}

void fft_frequencies(const Tensor& out, int64_t n, double step, bool half) {
    fill_by_index(out, [&]<class T>(int64_t i) {
        const int64_t place = half || i < (n + 1) / 2 ? i : i - n;
        return Scalar(static_cast<double>(place) * step).to<T>();
    });
}

// Fills out[i] = f(position, from the start or from the end), symmetric, so that both ends are exact.
template <class T, class Number, class F>
void fill_linear(const Tensor& out, Number start, Number end, F f) {
    const int64_t n = out.numel();
    T* p = out.data_as<T>();
    const Number step = n > 1 ? (end - start) / static_cast<double>(n - 1) : Number(0);
    for (int64_t i = 0; i < n; ++i) {
        Number x =
            i < n / 2 || n == 1 ? start + step * static_cast<double>(i) : end - step * static_cast<double>(n - 1 - i);
        p[i] = static_cast<T>(f(x));
    }
}

template <class F>
void linear(const Tensor& out, const Scalar& start, const Scalar& end, F f) {
    dispatch(out.dtype(), [&]<class T> {
        if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
            fill_linear<T>(out, start.to<complex128>(), end.to<complex128>(), f);
        else
            fill_linear<T>(out, start.to<double>(), end.to<double>(), f);
    });
}

// Each row from column first(row) to last(row).
void triangle_indices(const Tensor& out, int64_t begin, int64_t end, int64_t columns, int64_t offset, bool upper) {
    int64_t* rows = out.data_as<int64_t>();
    int64_t* cols = rows + out.size(1);
    for (int64_t r = begin; r < end; ++r) {
        const int64_t first = upper ? std::clamp<int64_t>(r + offset, 0, columns) : 0;
        const int64_t last = upper ? columns : std::clamp<int64_t>(r + offset + 1, 0, columns);
        for (int64_t c = first; c < last; ++c) {
            *rows++ = r;
            *cols++ = c;
        }
    }
}

// The window whose elements are f(n / N) for n = 0, 1, ...
template <class F>
void window(const Tensor& out, bool periodic, F&& f) {
    const int64_t length = out.numel();
    const auto size = static_cast<double>(periodic ? length : length - 1);
    fill_by_index(
        out, [&]<class T>(int64_t n) { return Scalar(length == 1 ? 1.0 : f(static_cast<double>(n) / size)).to<T>(); });
}

void kaiser_window(const Tensor& out, bool periodic, double beta) {
    const double largest = special::i0(beta);
    window(out, periodic, [=](double x) {
        const double from_middle = 2 * x - 1;
        return special::i0(beta * std::sqrt(std::max(0.0, 1 - from_middle * from_middle))) / largest;
    });
}

}  // namespace

constinit DeviceKernel<void(Result, const Scalar&, const Scalar&, bool)> arange_kernel{
    "arange",
    [](Result out, const Scalar& start, const Scalar& step, bool integral) { arange(out, start, step, integral); }};
constinit DeviceKernel<void(Result, double, double)> range_kernel{
    "range", [](Result out, double start, double step) { range(out, start, step); }};
constinit DeviceKernel<void(Result, const Scalar&, const Scalar&, double)> linspace_kernel{
    "linspace", [](Result out, const Scalar& start, const Scalar& end, double) {
        linear(out, start, end, [](auto x) { return x; });
    }};
constinit DeviceKernel<void(Result, const Scalar&, const Scalar&, double)> logspace_kernel{
    "logspace", [](Result out, const Scalar& start, const Scalar& end, double base) {
        linear(out, start, end, [=](auto x) { return std::pow(decltype(x)(base), x); });
    }};
constinit DeviceKernel<void(Result, int64_t, double, bool)> fft_frequencies_kernel{
    "fftfreq", [](Result out, int64_t n, double step, bool half) { fft_frequencies(out, n, step, half); }};
constinit DeviceKernel<void(Result, int64_t, int64_t, int64_t, int64_t, bool)> triangle_indices_kernel{
    "triangle_indices", [](Result out, int64_t begin, int64_t end, int64_t columns, int64_t offset, bool upper) {
        triangle_indices(out, begin, end, columns, offset, upper);
    }};
constinit DeviceKernel<void(Result, bool, double, double, double)> cosine_window_kernel{
    "cosine_window", [](Result out, bool periodic, double a, double b, double c) {
        constexpr double kTurn = 2 * std::numbers::pi;
        window(out, periodic, [=](double x) { return a - b * std::cos(kTurn * x) + c * std::cos(2 * kTurn * x); });
    }};
constinit DeviceKernel<void(Result, bool)> bartlett_window_kernel{
    "bartlett_window",
    [](Result out, bool periodic) { window(out, periodic, [](double x) { return 1 - std::abs(2 * x - 1); }); }};
constinit DeviceKernel<void(Result, bool, double)> kaiser_window_kernel{
    "kaiser_window", [](Result out, bool periodic, double beta) { kaiser_window(out, periodic, beta); }};

}  // namespace wengert::kernels
