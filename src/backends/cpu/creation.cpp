// Tensors made from numbers, on the CPU (kernels/creation.h).
//
// Their elements are functions of their place. They are computed in double (int64, complex128) a block at a time, by loops
// that have vector forms, and converted from there to the dtype of the result: see `fill_in_blocks`.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cpu/elementwise/casting.h"
#include "backends/cpu/elementwise/in_parallel.h"
#include "backends/cpu/scalar/special.h"
#include "generated/kernels/trigonometric.h"
#include "kernels/creation_kernels.h"

namespace wengert::kernels {
namespace {

// Elements, in the first-level cache. Blocks are computed whole, even if less of one is wanted: loops of constant length
// have vector forms.
constexpr int kBlock = 256;

// The first `count` elements: f(block, begin) writes elements begin, begin + 1, ... to the block.
template <class Number, class F>
void fill_in_blocks(const Tensor& out, int64_t count, F&& f) {
    const Loop cast = cast_loop(dtype_of<Number>, out.dtype());
    const int64_t item = item_size(out.dtype()), steps[] = {sizeof(Number), item};
    char* const data = reinterpret_cast<char*>(out.data());
    parallel_for(count, kParallelBlock, [&](int64_t begin, int64_t end) {
        alignas(64) Number block[kBlock];
        for (int64_t n; begin < end; begin += n) {
            n = std::min<int64_t>(kBlock, end - begin);
            f(block, begin);
            char* args[] = {reinterpret_cast<char*>(block), data + begin * item};
            cast(args, n, steps);
        }
    });
}

// block[i] = f(begin + i), where f takes a double: as vectors, small integers alone become floating.
template <class Number, class F>
void fill_block(Number* block, int64_t begin, F&& f) {
    const auto first = static_cast<double>(begin);
    for (int i = 0; i < kBlock; ++i) block[i] = f(first + i);
}

// out[i] = f(i), where f takes a double
template <class Number, class F>
void fill_by_place(const Tensor& out, F f) {
    fill_in_blocks<Number>(out, out.numel(), [&](Number* block, int64_t begin) { fill_block(block, begin, f); });
}

void arange(const Tensor& out, const Scalar& start, const Scalar& step, bool integral) {
    if (!integral)
        return fill_by_place<double>(
            out, [first = start.to<double>(), by = step.to<double>()](double i) { return first + i * by; });
    fill_in_blocks<int64_t>(out, out.numel(), [&](int64_t* block, int64_t begin) {
        const auto by = static_cast<uint64_t>(step.to<int64_t>());  // beyond the end, where nobody looks, it may wrap
        auto value = static_cast<uint64_t>(start.to<int64_t>()) + static_cast<uint64_t>(begin) * by;
        for (int i = 0; i < kBlock; ++i, value += by) block[i] = static_cast<int64_t>(value);
    });
}

void range(const Tensor& out, double start, double step) {
    fill_by_place<double>(out, [=](double i) { return start + step * i; });
}

void fft_frequencies(const Tensor& out, int64_t n, double step, bool half) {
    const auto length = static_cast<double>(n), from_here_negative = static_cast<double>((n + 1) / 2);
    fill_by_place<double>(out, [=](double i) { return (half || i < from_here_negative ? i : i - length) * step; });
}

// Fills out[i] = f(position, from the start or from the end), symmetric, so that both ends are exact.
template <class Number, class F>
void fill_linear(const Tensor& out, Number start, Number end, F f) {
    const int64_t n = out.numel();
    const Number step = n > 1 ? (end - start) / static_cast<double>(n - 1) : Number(0);
    const auto last = static_cast<double>(n - 1), middle = n == 1 ? 1 : static_cast<double>(n / 2);
    fill_by_place<Number>(out, [=](double i) { return f(i < middle ? start + step * i : end - step * (last - i)); });
}

template <class F>
void linear(const Tensor& out, const Scalar& start, const Scalar& end, F f) {
    if (is_complex(out.dtype()))
        fill_linear(out, start.to<complex128>(), end.to<complex128>(), f);
    else
        fill_linear(out, start.to<double>(), end.to<double>(), f);
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

// The window whose elements are f(x) for x = n / N and n = 0, 1, ..., where f(x) = f(1 - x): those beyond the middle are
// copied. f(block) replaces places of x by their values.
template <class F>
void window(const Tensor& out, bool periodic, F&& f) {
    const int64_t length = out.numel(), size = periodic ? length : length - 1;
    if (length == 1) return fill_by_place<double>(out, [](double) { return 1.0; });
    const int64_t half = std::min(length, size / 2 + 1);
    fill_in_blocks<double>(out, half, [&](double* block, int64_t begin) {
        fill_block(block, begin, [end = static_cast<double>(size)](double i) { return i / end; });
        f(block);
    });
    const int64_t item = item_size(out.dtype()), backwards[] = {-item, item};
    char* const data = reinterpret_cast<char*>(out.data());
    char* mirrored[] = {data + (size - half) * item, data + half * item};  // out[i] = out[size - i]
    cast_loop(out.dtype(), out.dtype())(mirrored, length - half, backwards);
}

// a - b cos(2 pi x) + c cos(4 pi x)
void cosine_window(const Tensor& out, bool periodic, double a, double b, double c) {
    const Loop cos = loop_of(K_cos, DType::Float64);
    window(out, periodic, [=](double* x) {
        for (int i = 0; i < kBlock; ++i) x[i] *= 2 * std::numbers::pi;
        char* args[] = {reinterpret_cast<char*>(x), reinterpret_cast<char*>(x)};
        const int64_t steps[] = {sizeof(double), sizeof(double)};
        cos(args, kBlock, steps);
        for (int i = 0; i < kBlock; ++i) x[i] = a - b * x[i] + c * (2 * x[i] * x[i] - 1);
    });
}

void bartlett_window(const Tensor& out, bool periodic) {
    window(out, periodic, [](double* x) {
        for (int i = 0; i < kBlock; ++i) x[i] = 1 - std::abs(2 * x[i] - 1);
    });
}

void kaiser_window(const Tensor& out, bool periodic, double beta) {
    window(out, periodic, [beta, largest = special::i0(beta)](double* x) {
        for (int i = 0; i < kBlock; ++i) {
            const double from_middle = 2 * x[i] - 1;
            x[i] = special::i0(beta * std::sqrt(std::max(0.0, 1 - from_middle * from_middle))) / largest;
        }
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
    "cosine_window",
    [](Result out, bool periodic, double a, double b, double c) { cosine_window(out, periodic, a, b, c); }};
constinit DeviceKernel<void(Result, bool)> bartlett_window_kernel{
    "bartlett_window", [](Result out, bool periodic) { bartlett_window(out, periodic); }};
constinit DeviceKernel<void(Result, bool, double)> kaiser_window_kernel{
    "kaiser_window", [](Result out, bool periodic, double beta) { kaiser_window(out, periodic, beta); }};

}  // namespace wengert::kernels
