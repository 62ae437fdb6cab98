// Activations that are products with what vanishes far down, and tanhshrink, which vanishes itself.
//
// An exponential that would be subnormal before it is multiplied by x is kept e^16 times larger until then. (Those of the
// normal distribution have a file of their own.)
#pragma once

#include "backends/cpu/scalar/normal_distribution.h"

namespace wengert::scalar {
inline namespace WENGERT_ISA {

// --- Products with the logistic function, or one like it
// exp(-x) for x >= 0 as value * scale. No choices, of which the compiler would make branches with an exponential in each.
template <class T>
struct Scaled {
    T value, scale;
};
template <Floating T>
WENGERT_INLINE Scaled<T> vanishing_exp(T x) {
    constexpr T e_16 = static_cast<T>(1.12535174719259114513775179060e-7);
    T far = T(x > T(64));
    return {exp(far * T(16) - x), far * e_16 + (T(1) - far)};
}

template <Floating T>
WENGERT_INLINE T silu(T x) {
    auto [e, scale] = vanishing_exp(abs(x));
    return (x < T(0) ? chain(e, x) * scale : x) / (T(1) + e * scale);
}

// tanh(log(1 + y)) = y (y + 2) / (y (y + 2) + 2), with y = exp(x), or 1 / exp(-x).
template <Floating T>
WENGERT_INLINE T mish(T x) {
    auto [e, scale] = vanishing_exp(abs(x));
    T y = e * scale;
    T numerator = x < T(0) ? chain(e, x) * scale * (y + T(2)) : x * (T(1) + T(2) * y);
    return numerator / (x < T(0) ? y * (y + T(2)) + T(2) : T(1) + T(2) * y * (y + T(1)));
}

// --- x - tanh(x), near 0 by the continued fraction tanh(x) = x / (1 + x^2 / (3 + x^2 / (5 + ...))) up to 17:
// x - tanh(x) = x^3 / (c + x^2), c = 3 + x^2 / (5 + ...), where nothing cancels.
template <class T>
WENGERT_INLINE T tanhshrink_near_zero(T x) {
    using R = real_t<T>;
    T square = x * x;
    T numerator = polynomial(square, T(1), T(R(6.0 / 85)), T(R(2.0 / 1785)), T(R(4.0 / 1044225)));
    T denominator = polynomial(square, T(3), T(R(24.0 / 17)), T(R(7.0 / 85)), T(R(4.0 / 3315)), T(R(1.0 / 255255)));
    return x * square * (numerator / denominator);
}
template <Floating T>
WENGERT_INLINE T tanhshrink(T x) {
    T near = tanhshrink_near_zero(x), far = x - tanh(x);
    return abs(x) < T(1.1) ? near : far;
}

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
