// Special functions. Their bodies are long and branchy, so they are compiled once (backends/cpu/special/*.cpp) in double;
// float arguments are computed in double and rounded.
#pragma once

#include <complex>

namespace wengert::special {

// All accept any argument; poles and domain errors give infinities and NaN as in SciPy.
double lgamma(double x) noexcept;
double digamma(double x) noexcept;
double trigamma(double x) noexcept;
double polygamma(double n, double x) noexcept;  // n = 0, 1, 2, ...
double zeta(double s, double q) noexcept;       // Hurwitz: sum over k of (q + k)^-s
float igamma(float a, float x) noexcept;
double igamma(double a, double x) noexcept;  // regularised lower incomplete gamma function P(a, x)
float igammac(float a, float x) noexcept;
double igammac(double a, double x) noexcept;  // Q(a, x) = 1 - P(a, x)
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

// Families that are closed under differentiation (families.h).
// Orders are integers; order -1, which a derivative formula only multiplies by 0, gives 0.
double spherical_bessel(double n, double x) noexcept;  // of the first kind
std::complex<double> spherical_bessel(double n, std::complex<double> z) noexcept;
double bessel_i(double n, double x) noexcept;              // modified, of the first kind; the order may be negative
double bessel_ie_derivative(double n, double x) noexcept;  // n-th derivative of exp(-x) i0(x), x >= 0
double bessel_j(double n, double x) noexcept;              // of the first kind, of the second kind, and modified of
double bessel_y(double n, double x) noexcept;              // the second kind; orders may be negative
double bessel_k(double n, double x) noexcept;
double bessel_ke_derivative(double n, double x) noexcept;  // n-th derivative of exp(x) k0(x), x > 0
double airy_ai_derivative(double n, double x) noexcept;
double erfcx_integral(double n, double x) noexcept;  // exp(x^2) i^n erfc(x)
// Gegenbauer and associated Laguerre polynomials of degree n; d/dx raises their order.
double gegenbauer(double order, double x, double n) noexcept;
double laguerre(double order, double x, double n) noexcept;
// n-th derivatives with respect to the first argument: of P(a, x), of its density in x, of the Hurwitz zeta function.
double igamma_d_order(double n, double a, double x) noexcept;
double gamma_density(double n, double a, double x) noexcept;
double zeta_d_order(double n, double s, double q) noexcept;

}  // namespace wengert::special
