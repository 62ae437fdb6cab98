#include "kernels/windows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cpu/scalar/special.h"

namespace wengert::kernels {
namespace {

// The window whose elements are f(n / N) for n = 0, 1, ...
template <class F>
Tensor window(int64_t length, bool periodic, std::optional<DType> dtype, F&& f) {
    check(length >= 0, ErrorKind::Runtime, "window_length must be non-negative, got ", length);
    const DType of = dtype.value_or(default_dtype());
    check(is_floating(of), ErrorKind::Runtime, "window functions expect a floating point dtype, but got ", of);
    Tensor out = empty(Dims{length}, of);
    const auto size = static_cast<double>(periodic ? length : length - 1);
    for (int64_t n = 0; n < length; ++n) {
        const double value = length == 1 ? 1 : f(static_cast<double>(n) / size);
        if (of == DType::Float32)
            out.data_as<float>()[n] = static_cast<float>(value);
        else
            out.data_as<double>()[n] = value;
    }
    return out;
}

}  // namespace

Tensor cosine_window(int64_t length, bool periodic, double a, double b, double c, std::optional<DType> dtype) {
    constexpr double kTurn = 2 * std::numbers::pi;
    return window(length, periodic, dtype,
                  [=](double x) { return a - b * std::cos(kTurn * x) + c * std::cos(2 * kTurn * x); });
}

Tensor bartlett_window(int64_t length, bool periodic, std::optional<DType> dtype) {
    return window(length, periodic, dtype, [](double x) { return 1 - std::abs(2 * x - 1); });
}

Tensor kaiser_window(int64_t length, bool periodic, double beta, std::optional<DType> dtype) {
    const double largest = special::i0(beta);
    return window(length, periodic, dtype, [=](double x) {
        const double from_middle = 2 * x - 1;
        return special::i0(beta * std::sqrt(std::max(0.0, 1 - from_middle * from_middle))) / largest;
    });
}

}  // namespace wengert::kernels
