// Families of special functions that are closed under differentiation. Derivatives of erfcx, i1e, igamma or sinc written in
// terms of those functions themselves cancel; written in terms of a family they do not, to any order (ops/special.yaml).
#pragma once

#include <complex>

#include "kernels/scalar/config.h"

namespace wengert::special {

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

namespace wengert::scalar {
inline namespace WENGERT_ISA {

#define WENGERT_FAMILY1(name)                                                                     \
    WENGERT_INLINE double name(double n, double x) { return special::name(n, x); }                \
    WENGERT_INLINE float name(float n, float x) {                                                 \
        return static_cast<float>(special::name(static_cast<double>(n), static_cast<double>(x))); \
    }
#define WENGERT_FAMILY2(name)                                                                       \
    WENGERT_INLINE double name(double n, double a, double x) { return special::name(n, a, x); }     \
    WENGERT_INLINE float name(float n, float a, float x) {                                          \
        return static_cast<float>(                                                                  \
            special::name(static_cast<double>(n), static_cast<double>(a), static_cast<double>(x))); \
    }
WENGERT_FAMILY1(spherical_bessel)
WENGERT_FAMILY1(bessel_i)
WENGERT_FAMILY1(bessel_ie_derivative)
WENGERT_FAMILY1(bessel_j)
WENGERT_FAMILY1(bessel_y)
WENGERT_FAMILY1(bessel_k)
WENGERT_FAMILY1(bessel_ke_derivative)
WENGERT_FAMILY1(airy_ai_derivative)
WENGERT_FAMILY1(erfcx_integral)
WENGERT_FAMILY2(igamma_d_order)
WENGERT_FAMILY2(gamma_density)
WENGERT_FAMILY2(zeta_d_order)
WENGERT_FAMILY2(gegenbauer)
WENGERT_FAMILY2(laguerre)
#undef WENGERT_FAMILY1
#undef WENGERT_FAMILY2

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
