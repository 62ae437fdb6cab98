// Special functions. Their bodies are long and branchy, so they are compiled once (kernels/special/*.cpp) in double;
// float arguments are computed in double and rounded. Loops call them element by element.
#pragma once

#include "kernels/scalar/config.h"

namespace wengert::special {

// All accept any argument; poles and domain errors give infinities and NaN as in SciPy.
double lgamma(double x) noexcept;
double digamma(double x) noexcept;
double trigamma(double x) noexcept;
double polygamma(double n, double x) noexcept;  // n = 0, 1, 2, ...
double zeta(double s, double q) noexcept;       // Hurwitz: sum over k of (q + k)^-s
double igamma(double a, double x) noexcept;     // regularised lower incomplete gamma function P(a, x)
double igammac(double a, double x) noexcept;    // Q(a, x) = 1 - P(a, x)
double erfinv(double y) noexcept;
double erfcx(double x) noexcept;  // exp(x^2) erfc(x)
double ndtri(double p) noexcept;  // inverse of the normal distribution function
double log_ndtr(double x) noexcept;
double i0(double x) noexcept;  // modified Bessel functions; the e forms are scaled by exp(-|x|)
double i0e(double x) noexcept;
double i1(double x) noexcept;
double i1e(double x) noexcept;
double modified_bessel_k0(double x) noexcept;  // and of the second kind, for x > 0; the scaled ones by exp(x)
double modified_bessel_k1(double x) noexcept;
double scaled_modified_bessel_k0(double x) noexcept;
double scaled_modified_bessel_k1(double x) noexcept;
double airy_ai(double x) noexcept;
// Orthogonal polynomials of degree n, which is truncated to a whole number.
double chebyshev_polynomial_t(double x, double n) noexcept;
double chebyshev_polynomial_u(double x, double n) noexcept;
double chebyshev_polynomial_v(double x, double n) noexcept;
double chebyshev_polynomial_w(double x, double n) noexcept;
double legendre_polynomial_p(double x, double n) noexcept;
double hermite_polynomial_h(double x, double n) noexcept;
double hermite_polynomial_he(double x, double n) noexcept;

}  // namespace wengert::special

namespace wengert::scalar {
inline namespace WENGERT_ISA {

#define WENGERT_SPECIAL1(name)                                        \
    WENGERT_INLINE double name(double x) { return special::name(x); } \
    WENGERT_INLINE float name(float x) { return static_cast<float>(special::name(static_cast<double>(x))); }
#define WENGERT_SPECIAL2(name)                                                                    \
    WENGERT_INLINE double name(double a, double b) { return special::name(a, b); }                \
    WENGERT_INLINE float name(float a, float b) {                                                 \
        return static_cast<float>(special::name(static_cast<double>(a), static_cast<double>(b))); \
    }
WENGERT_SPECIAL1(lgamma)
WENGERT_SPECIAL1(digamma)
WENGERT_SPECIAL1(trigamma)
WENGERT_SPECIAL2(polygamma)
WENGERT_SPECIAL2(zeta)
WENGERT_SPECIAL2(igamma)
WENGERT_SPECIAL2(igammac)
WENGERT_SPECIAL1(erfinv)
WENGERT_SPECIAL1(erfcx)
WENGERT_SPECIAL1(ndtri)
WENGERT_SPECIAL1(log_ndtr)
WENGERT_SPECIAL1(i0)
WENGERT_SPECIAL1(i0e)
WENGERT_SPECIAL1(i1)
WENGERT_SPECIAL1(i1e)
WENGERT_SPECIAL1(modified_bessel_k0)
WENGERT_SPECIAL1(modified_bessel_k1)
WENGERT_SPECIAL1(scaled_modified_bessel_k0)
WENGERT_SPECIAL1(scaled_modified_bessel_k1)
WENGERT_SPECIAL1(airy_ai)
WENGERT_SPECIAL2(chebyshev_polynomial_t)
WENGERT_SPECIAL2(chebyshev_polynomial_u)
WENGERT_SPECIAL2(chebyshev_polynomial_v)
WENGERT_SPECIAL2(chebyshev_polynomial_w)
WENGERT_SPECIAL2(legendre_polynomial_p)
WENGERT_SPECIAL2(hermite_polynomial_h)
WENGERT_SPECIAL2(hermite_polynomial_he)
#undef WENGERT_SPECIAL1
#undef WENGERT_SPECIAL2

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
