// The normal distribution: its density, its distribution function and what is made of that.
//
// The exponential of a rounded number is off in proportion to that number. So squares, and the argument of erfc, come with
// what their rounding leaves, and the result is corrected for it.
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
// exp(-rate x^2)
template <Floating T>
WENGERT_INLINE T gaussian(T x, T rate) {
    T a = abs(x) > T(1e18) ? T(1e18) : abs(x);  // squares that overflow leave no rest; NaN passes
    auto [square, rest] = exact_product(a, a);
    T e = exp(-rate * square);
    return e - e * (rate * rest);
}

// --- In double, by the C library's erfc
// The distribution function times a factor, which comes first since the function may be subnormal. It is half of
// erfc(-x / sqrt(2)), whose logarithmic derivative is 2x / sqrt(2) far down, and makes no difference elsewhere.
WENGERT_INLINE double ndtr_times(double factor, double x) {
    constexpr InTwo<double> root = {0.70710678118654757, -4.8336466567264567e-17};
    auto [t, rest] = exact_product(x, root.value);
    double twice = erfc(-t), off = t < 0 ? t * (rest + x * root.rest) : 0.0;
    return twice == 0 ? 0.0 : 0.5 * factor * twice * (1 - (off + off));
}
WENGERT_INLINE double ndtr(double x) { return ndtr_times(1, x); }
WENGERT_INLINE double gelu_erf(double x) { return ndtr_times(x, x); }
WENGERT_INLINE double gelu_derivative(double x) {
    return 0.5 * erfc(-0.70710678118654757 * x) + chain(0.3989422804014327 * gaussian(x, 0.5), x);
}

// --- In float, by one exponential and one series, which take half the time. Of the two tails the smaller, Q(a) with a = |x|, is
// exp(-a^2 / 2) times Mills' ratio, and the larger is what that leaves of 1.
//
// Mills' ratio times the density at 0: its product with a + 1.5 is a polynomial in (a - 1.5) / (a + 1.5), to 7e-9 for all a >= 0.
// The place is chosen so that what rounding does to a + 1.5 hardly matters: it acts like that much on a.
WENGERT_INLINE float mills_ratio(float a) {
    const float inverse = 1 / (a + 1.5f), t = times_plus(-3.0f, inverse, 1.0f);
    return inverse * polynomial(t, 0.6173419965f, -0.19509952f, -0.05749498231f, 0.01789801061f, 0.01763095751f,
                                0.003972307541f, -0.002372122545f, -0.002634417716f, -0.001219726781f, 6.574795506e-5f,
                                0.000696714244f, 0.0003724672801f, -0.0001116922306f, -0.0001034567194f);
}
// factor exp(-a^2 / 2) for 0 <= a <= 16. With a^2 = r - 2n log(2), |r| <= log(2), it is 2^n times a Taylor polynomial of r; the
// power is taken 2^64 times larger, so that only the last product may be subnormal. n is read off the low bits of a sum,
// log(2) is in two parts, the first with few bits.
WENGERT_INLINE float times_bell(float factor, float a) {
    constexpr float magic = 12582912.0f;  // 1.5 * 2^23
    const auto [square, rest] = exact_product(a, a);
    const float shifted = times_plus(square, -0.72134752f, magic), n = shifted - magic;
    const float r = times_plus(n, -2 * 2.12194440e-4f, times_plus(n, 2 * 0.693359375f, square)) + rest;
    const float e = polynomial(r, 1.0f, -1.0f / 2, 1.0f / 8, -1.0f / 48, 1.0f / 384, -1.0f / 3840, 1.0f / 46080);
    const float power = std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + (127 + 64)) << 23);
    return e * factor * power * 0x1p-64f;
}
WENGERT_INLINE float at_most_16(float a) { return a > 16 ? 16.0f : a; }  // beyond, all is 0; NaN passes
WENGERT_INLINE float ndtr(float x) {
    const float a = at_most_16(abs(x)), tail = times_bell(mills_ratio(a), a);
    return x < 0 ? tail : 1 - tail;
}
WENGERT_INLINE float gelu_erf(float x) {
    const float a = at_most_16(abs(x)), tail = times_bell(a * mills_ratio(a), a);
    return (x < 0 ? 0.0f : x) - tail;
}
WENGERT_INLINE float gelu_derivative(float x) {
    const float a = at_most_16(abs(x)), tail = times_bell(times_plus(a, -0.39894228f, mills_ratio(a)), a);
    return x < 0 ? tail : 1 - tail;
}

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
