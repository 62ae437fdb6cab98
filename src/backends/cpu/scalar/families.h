// Families of special functions that are closed under differentiation. Derivatives of erfcx, i1e, igamma or sinc written in
// terms of those functions themselves cancel; written in terms of a family they do not, to any order (ops/special.yaml).
#pragma once

#include <complex>

#include "backends/cpu/scalar/config.h"
#include "backends/cpu/scalar/special_functions.h"
#include "backends/cpu/scalar/vector_forms.h"

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
WENGERT_FAMILY1(bessel_k)
WENGERT_FAMILY1(bessel_ke_derivative)
WENGERT_FAMILY1(airy_ai_derivative)
WENGERT_FAMILY2(igamma_d_order)
WENGERT_FAMILY2(gamma_density)
WENGERT_FAMILY2(zeta_d_order)
#undef WENGERT_FAMILY1
#undef WENGERT_FAMILY2

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
