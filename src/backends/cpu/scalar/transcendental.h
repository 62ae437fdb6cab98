// Exponentials, logarithms, trigonometric functions and what is made of them, for float and double.
//
// Each computes in the type it is given; where a formula would lose digits or overflow early (sigmoid in its tails,
// logaddexp of large numbers) it is arranged so that it does not.
#pragma once

#include "backends/cpu/scalar/arithmetic.h"
#include "backends/cpu/scalar/power.h"

namespace wengert::scalar {
inline namespace WENGERT_ISA {

#define WENGERT_UNARY(name)                                     \
    WENGERT_INLINE float name(float x) { return ::name##f(x); } \
    WENGERT_INLINE double name(double x) { return ::name(x); }
#define WENGERT_BINARY(name)                                                \
    WENGERT_INLINE float name(float a, float b) { return ::name##f(a, b); } \
    WENGERT_INLINE double name(double a, double b) { return ::name(a, b); }
WENGERT_UNARY(exp)
WENGERT_UNARY(exp2)
WENGERT_UNARY(expm1)
WENGERT_UNARY(log)
WENGERT_UNARY(log1p)
WENGERT_UNARY(log2)
WENGERT_UNARY(log10)
WENGERT_UNARY(sin)
WENGERT_UNARY(tan)
WENGERT_UNARY(sinh)
WENGERT_UNARY(cosh)
WENGERT_UNARY(tanh)
WENGERT_UNARY(asin)
WENGERT_UNARY(acos)
WENGERT_UNARY(atan)
WENGERT_UNARY(asinh)
WENGERT_UNARY(acosh)
WENGERT_UNARY(atanh)
WENGERT_UNARY(erf)
WENGERT_UNARY(erfc)
WENGERT_BINARY(atan2)
WENGERT_BINARY(hypot)
#undef WENGERT_UNARY
#undef WENGERT_BINARY

// By another name: the compiler would join it with the sine of the same number in a function that has no vector form.
#ifdef WENGERT_HAVE_LIBMVEC
WENGERT_INLINE float cos(float x) { return wengert_cosf(x); }
WENGERT_INLINE double cos(double x) { return wengert_cos(x); }
#else
WENGERT_INLINE float cos(float x) { return ::cosf(x); }
WENGERT_INLINE double cos(double x) { return ::cos(x); }
#endif

WENGERT_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
WENGERT_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
template <Floating T>
WENGERT_INLINE T rsqrt(T x) {
    return T(1) / sqrt(x);
}

// Integers to integer powers; a negative exponent leaves only what is exact: powers of 1 and -1.
template <Integral T>
WENGERT_INLINE T pow(T base, T exponent) {
    if (exponent < T(0)) {
        if (base == T(1)) return T(1);
        if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
        return T(0);
    }
    uint64_t power = 1, factor = static_cast<uint64_t>(base);  // wraps as the signed type would
    for (uint64_t bits = static_cast<uint64_t>(exponent); bits != 0; bits >>= 1) {
        if (bits & 1) power *= factor;
        factor *= factor;
    }
    return static_cast<T>(power);
}

// 1 / (1 + exp(-x)) with the exponential of a number that is never positive: relative accuracy in both tails.
template <Floating T>
WENGERT_INLINE T sigmoid(T x) {
    T z = exp(-abs(x)), larger = T(1) / (T(1) + z);  // which sigmoid(-x) shares
    return x < T(0) ? z * larger : larger;
}

template <Floating T>
WENGERT_INLINE T xlogy(T x, T y) {
    T product = x * log(y);
    return isnan(y) ? y : x == T(0) ? T(0) : product;
}
template <Floating T>
WENGERT_INLINE T xlog1py(T x, T y) {
    T product = x * log1p(y);
    return isnan(y) ? y : x == T(0) ? T(0) : product;
}
template <Floating T>
WENGERT_INLINE T logaddexp(T a, T b) {
    T sum = maximum(a, b) + log1p(exp(-abs(a - b)));
    return isinf(a) & (a == b) ? a : sum;
}
template <Floating T>
WENGERT_INLINE T logaddexp2(T a, T b) {
    T sum = maximum(a, b) + log1p(exp2(-abs(a - b))) * T(1.44269504088896340735992468100189214L);
    return isinf(a) & (a == b) ? a : sum;
}
template <Floating T>
WENGERT_INLINE T deg2rad(T x) {
    return x * (pi<T> / T(180));
}
template <Floating T>
WENGERT_INLINE T rad2deg(T x) {
    return x * (T(180) / pi<T>);
}
template <Floating T>
WENGERT_INLINE T sinc(T x) {
    // The nearest integer is taken off before pi, which is rounded, comes in: exactly 0 at all integers.
    T whole = round(x), odd = whole - T(2) * round(whole * T(0.5));
    T ratio = sin(pi<T> * (x - whole)) * (T(1) - T(2) * odd * odd) / (pi<T> * x);
    return x == T(0) ? T(1) : isinf(x) ? T(0) : ratio;
}

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
