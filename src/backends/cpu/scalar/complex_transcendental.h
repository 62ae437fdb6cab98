// The same functions for complex numbers, on the C library's complex functions, which are right at branch cuts,
// infinities and signed zeros.
#pragma once

#include "backends/cpu/scalar/activation.h"
#include "backends/cpu/scalar/families.h"
#include "backends/cpu/scalar/transcendental.h"

namespace wengert::scalar {
inline namespace WENGERT_ISA {

#define WENGERT_COMPLEX_UNARY(name)                             \
    inline complex64 name(complex64 z) { return std::name(z); } \
    inline complex128 name(complex128 z) { return std::name(z); }
WENGERT_COMPLEX_UNARY(exp)
WENGERT_COMPLEX_UNARY(log)
WENGERT_COMPLEX_UNARY(sqrt)
WENGERT_COMPLEX_UNARY(sin)
WENGERT_COMPLEX_UNARY(cos)
WENGERT_COMPLEX_UNARY(tan)
WENGERT_COMPLEX_UNARY(sinh)
WENGERT_COMPLEX_UNARY(cosh)
WENGERT_COMPLEX_UNARY(tanh)
WENGERT_COMPLEX_UNARY(asin)
WENGERT_COMPLEX_UNARY(acos)
WENGERT_COMPLEX_UNARY(atan)
WENGERT_COMPLEX_UNARY(asinh)
WENGERT_COMPLEX_UNARY(acosh)
WENGERT_COMPLEX_UNARY(atanh)
#undef WENGERT_COMPLEX_UNARY

template <class R>
inline std::complex<R> complex_log1p(std::complex<R> z) {
    R x = z.real(), y = z.imag();
    // Near zero |1 + z|^2 = 1 + (x (2 + x) + y^2), whose small part log1p keeps.
    if (abs(x) < R(0.5) && abs(y) < R(0.5)) return {log1p(x * (R(2) + x) + y * y) / R(2), atan2(y, R(1) + x)};
    return log(std::complex<R>(R(1) + x, y));
}
template <class R>
inline std::complex<R> complex_expm1(std::complex<R> z) {
    R x = z.real(), y = z.imag(), half = sin(y / R(2));
    if (y == R(0)) return {expm1(x), y};
    return {expm1(x) * cos(y) - R(2) * half * half, exp(x) * sin(y)};
}
template <class R>
inline std::complex<R> complex_pow(std::complex<R> base, std::complex<R> exponent) {
    using C = std::complex<R>;
    if (exponent.imag() == R(0)) {
        // Small integer exponents by multiplication: exact on Gaussian integers, and no detour through logarithms.
        R n = exponent.real();
        if (abs(n) <= R(8) && n == trunc(n)) {
            C power(1), factor = base;
            for (int bits = static_cast<int>(abs(n)); bits != 0; bits >>= 1) {
                if (bits & 1) power = power * factor;
                factor = factor * factor;
            }
            return n < R(0) ? C(1) / power : power;
        }
        if (n == R(0.5)) return sqrt(base);
    }
    if (base == C(0)) return exponent.real() > R(0) ? C(0) : C(nan<R>, nan<R>);
    return exp(exponent * log(base));
}
template <class R>
inline std::complex<R> complex_sgn(std::complex<R> z) {
    R x = z.real(), y = z.imag();
    if (isinf(hypot(x, y)))
        [[unlikely]] {  // of infinite parts a finite one is nothing; finite ones may overflow together
        bool infinite = isinf(x) | isinf(y);
        x = infinite ? copysign(R(isinf(x)), x) : x * R(0.5);
        y = infinite ? copysign(R(isinf(y)), y) : y * R(0.5);
    }
    R size = hypot(x, y);
    return size == R(0) ? std::complex<R>(0) : std::complex<R>(x / size, y / size);
}
template <class R>
inline std::complex<R> complex_sigmoid(std::complex<R> z) {
    using C = std::complex<R>;
    if (z.real() < R(0)) {
        C e = exp(z);
        return e / (C(1) + e);
    }
    return C(1) / (C(1) + exp(-z));
}

template <class R>
inline std::complex<R> complex_tanhshrink(std::complex<R> z) {
    return abs(z.real()) < R(1) && abs(z.imag()) < R(1) ? tanhshrink_near_zero(z) : z - tanh(z);
}

// From the operand with the greater real part, so that nothing overflows.
template <class R>
inline std::complex<R> complex_logaddexp(std::complex<R> a, std::complex<R> b) {
    const std::complex<R> high = a.real() < b.real() ? b : a, low = a.real() < b.real() ? a : b;
    return isinf(high.real()) ? high : high + complex_log1p<R>(exp(low - high));
}
template <class R>
inline std::complex<R> complex_spherical_bessel(std::complex<R> order, std::complex<R> z) {
    return static_cast<std::complex<R>>(special::spherical_bessel(static_cast<double>(order.real()), complex128(z)));
}

#define WENGERT_COMPLEX_FUNCTIONS(C, R)                                                 \
    inline R abs(C z) { return hypot(z.real(), z.imag()); }                             \
    inline R angle(C z) { return atan2(z.imag(), z.real()); }                           \
    inline C log1p(C z) { return complex_log1p<R>(z); }                                 \
    inline C expm1(C z) { return complex_expm1<R>(z); }                                 \
    inline C exp2(C z) { return exp(z * R(0.693147180559945309417232121458176568L)); }  \
    inline C log2(C z) { return log(z) * R(1.44269504088896340735992468100189214L); }   \
    inline C log10(C z) { return log(z) * R(0.434294481903251827651128918916605082L); } \
    inline C rsqrt(C z) { return C(1) / sqrt(z); }                                      \
    inline C sgn(C z) { return complex_sgn<R>(z); }                                     \
    inline C pow(C a, C b) { return complex_pow<R>(a, b); }                             \
    inline C sigmoid(C z) { return complex_sigmoid<R>(z); }                             \
    inline C silu(C z) { return chain(sigmoid(z), z); }                                 \
    inline C tanhshrink(C z) { return complex_tanhshrink<R>(z); }                       \
    inline C logaddexp(C a, C b) { return complex_logaddexp<R>(a, b); }                 \
    inline C spherical_bessel(C n, C z) { return complex_spherical_bessel<R>(n, z); }
WENGERT_COMPLEX_FUNCTIONS(complex64, float)
WENGERT_COMPLEX_FUNCTIONS(complex128, double)
#undef WENGERT_COMPLEX_FUNCTIONS

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
