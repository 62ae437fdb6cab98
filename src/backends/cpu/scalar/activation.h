// Activations that are products with what vanishes far down, and tanhshrink, which vanishes itself.
//
// The exponential of a rounded number is off in proportion to that number. So squares, and the argument of erfc, come with
// what their rounding leaves, and the result is corrected to first order. An exponential that would be subnormal before
// it is multiplied by x is kept e^16 times larger until then.
#pragma once

#include <bit>

#include "backends/cpu/scalar/transcendental.h"

namespace wengert::scalar {
inline namespace WENGERT_ISA {

// A number in two parts: of a product, the second is what rounding leaves of it.
template <class T>
struct InTwo {
    T value, rest;
};

#if defined(__FMA__) || defined(__aarch64__)
WENGERT_INLINE float rest_of_product(float a, float b, float product) { return __builtin_fmaf(a, b, -product); }
WENGERT_INLINE double rest_of_product(double a, double b, double product) { return __builtin_fma(a, b, -product); }
#else
// Dekker's and Veltkamp's way, with the same result: products of halves of the digits are exact.
template <Floating T>
WENGERT_INLINE T half_of_digits(T x) {
    T large = (std::is_same_v<T, float> ? T(4097) : T(134217729)) * x;
    return large - (large - x);
}
template <Floating T>
WENGERT_INLINE T rest_of_product(T a, T b, T product) {
    T a1 = half_of_digits(a), b1 = half_of_digits(b), a2 = a - a1, b2 = b - b1;
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
}
#endif

template <Floating T>
WENGERT_INLINE InTwo<T> exact_product(T a, T b) {
    T product = a * b;
    return {product, rest_of_product(a, b, product)};
}
// A constant with more digits than T has: a double, and what that leaves.
template <Floating T>
constexpr InTwo<T> constant(double x, double more) {
    return {static_cast<T>(x), static_cast<T>((x - static_cast<double>(static_cast<T>(x))) + more)};
}

// c0 + c1 x + c2 x^2 + ...
template <class T>
WENGERT_INLINE T polynomial(T, T c) {
    return c;
}
template <class T, class... Rest>
WENGERT_INLINE T polynomial(T x, T c, Rest... rest) {
    return c + x * polynomial(x, rest...);
}

// --- The normal distribution
// exp(-rate x^2)
template <Floating T>
WENGERT_INLINE T gaussian(T x, T rate) {
    T a = abs(x) > T(1e18) ? T(1e18) : abs(x);  // squares that overflow leave no rest; NaN passes
    auto [square, rest] = exact_product(a, a);
    T e = exp(-rate * square);
    return e - e * (rate * rest);
}

// Its distribution function times a factor, which comes first since the function may be subnormal. It is half of
// erfc(-x / sqrt(2)), whose logarithmic derivative is 2x / sqrt(2) far down, and makes no difference elsewhere.
template <Floating T>
WENGERT_INLINE T ndtr_times(T factor, T x) {
    constexpr InTwo<T> root = constant<T>(0.70710678118654757, -4.8336466567264567e-17);
    auto [t, rest] = exact_product(x, root.value);
    T twice = erfc(-t), off = t < T(0) ? t * (rest + x * root.rest) : T(0);
    return twice == T(0) ? T(0) : T(0.5) * factor * twice * (T(1) - (off + off));
}
template <Floating T>
WENGERT_INLINE T ndtr(T x) {
    return ndtr_times(T(1), x);
}
template <Floating T>
WENGERT_INLINE T gelu_erf(T x) {
    return ndtr_times(x, x);
}

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
