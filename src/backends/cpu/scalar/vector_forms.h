// Functions of which the C library has no vector form, and this project writes one: backends/cpu/isa/vector_forms.cpp.
//
// A loop that calls vector_form::erfinv is vectorised as one that calls exp: with these declarations the compiler turns it
// into a loop that calls _ZGVdN4v_wengert_erfinv_v3 or its like. Elsewhere they are the functions of backends/cpu/special.
#pragma once

#include <cmath>

#include "backends/cpu/scalar/config.h"
#include "backends/cpu/scalar/special_functions.h"

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)
#define WENGERT_ISA_NAME(name) WENGERT_JOIN(wengert_##name##_, WENGERT_ISA)

// A fused multiply-add is in all of them.
#if defined(WENGERT_HAVE_LIBMVEC) && defined(__AVX2__) && defined(__FMA__)
#define WENGERT_HAVE_VECTOR_FORMS 1
#endif

// clang-format off: its layout of such lists is not one that it keeps
#define WENGERT_FOR_EACH_VECTOR_FORM(X)                                                                 \
    X(erfinv) X(ndtri) X(erfcx) X(log_ndtr) X(lgamma) X(digamma) X(i0) X(i0e) X(i1) X(i1e)              \
    X(modified_bessel_k0) X(modified_bessel_k1) X(scaled_modified_bessel_k0) X(scaled_modified_bessel_k1)
// Of two arguments. Families: those members that partials of other functions name have one, whether the order is a literal or
// an operand; polynomials: where neighbours have the same degree.
#define WENGERT_FOR_EACH_VECTOR_FAMILY(X)                                                                 \
    X(erfcx_integral) X(polygamma) X(bessel_i) X(bessel_ie_derivative) X(spherical_bessel)                \
    X(bessel_j) X(bessel_y)                                                                               \
    X(chebyshev_polynomial_t) X(chebyshev_polynomial_u) X(chebyshev_polynomial_v) X(chebyshev_polynomial_w) \
    X(legendre_polynomial_p) X(hermite_polynomial_h) X(hermite_polynomial_he)
// Of three: polynomials of an order and a degree.
#define WENGERT_FOR_EACH_POLYNOMIAL_OF_ORDERS(X) X(gegenbauer) X(laguerre)
// clang-format on

#if defined(WENGERT_HAVE_VECTOR_FORMS) && !defined(WENGERT_DEFINES_VECTOR_FORMS)

extern "C" {
#define WENGERT_DECLARE1(name)                                                                  \
    __attribute__((simd("notinbranch"), const)) double WENGERT_ISA_NAME(name)(double) noexcept; \
    __attribute__((simd("notinbranch"), const)) float WENGERT_ISA_NAME(name##f)(float) noexcept;
#define WENGERT_DECLARE2(name)                                                                          \
    __attribute__((simd("notinbranch"), const)) double WENGERT_ISA_NAME(name)(double, double) noexcept; \
    __attribute__((simd("notinbranch"), const)) float WENGERT_ISA_NAME(name##f)(float, float) noexcept;
#define WENGERT_DECLARE3(name)                                                                                  \
    __attribute__((simd("notinbranch"), const)) double WENGERT_ISA_NAME(name)(double, double, double) noexcept; \
    __attribute__((simd("notinbranch"), const)) float WENGERT_ISA_NAME(name##f)(float, float, float) noexcept;
WENGERT_FOR_EACH_VECTOR_FORM(WENGERT_DECLARE1)
WENGERT_FOR_EACH_VECTOR_FAMILY(WENGERT_DECLARE2)
WENGERT_DECLARE2(fmod)
WENGERT_FOR_EACH_POLYNOMIAL_OF_ORDERS(WENGERT_DECLARE3)
#undef WENGERT_DECLARE1
#undef WENGERT_DECLARE2
#undef WENGERT_DECLARE3
}

#define WENGERT_DOUBLE(name) WENGERT_ISA_NAME(name)
#define WENGERT_FLOAT(name, ...) WENGERT_ISA_NAME(name##f)(__VA_ARGS__)
#define WENGERT_FMOD WENGERT_ISA_NAME(fmod)
#define WENGERT_FMODF WENGERT_ISA_NAME(fmodf)

#else

#define WENGERT_DOUBLE(name) special::name
#define WENGERT_FLOAT(name, ...) static_cast<float>(special::name(__VA_ARGS__))
#define WENGERT_FMOD ::fmod
#define WENGERT_FMODF ::fmodf

#endif

namespace wengert::scalar {
inline namespace WENGERT_ISA {

#define WENGERT_FORM1(name)                                                  \
    WENGERT_INLINE double name(double x) { return WENGERT_DOUBLE(name)(x); } \
    WENGERT_INLINE float name(float x) { return WENGERT_FLOAT(name, x); }
#define WENGERT_FORM2(name)                                                               \
    WENGERT_INLINE double name(double n, double x) { return WENGERT_DOUBLE(name)(n, x); } \
    WENGERT_INLINE float name(float n, float x) { return WENGERT_FLOAT(name, n, x); }
#define WENGERT_FORM3(name)                                                                            \
    WENGERT_INLINE double name(double p, double x, double n) { return WENGERT_DOUBLE(name)(p, x, n); } \
    WENGERT_INLINE float name(float p, float x, float n) { return WENGERT_FLOAT(name, p, x, n); }
WENGERT_FOR_EACH_VECTOR_FORM(WENGERT_FORM1)
WENGERT_FOR_EACH_VECTOR_FAMILY(WENGERT_FORM2)
WENGERT_FOR_EACH_POLYNOMIAL_OF_ORDERS(WENGERT_FORM3)
#undef WENGERT_FORM1
#undef WENGERT_FORM2
#undef WENGERT_FORM3
WENGERT_INLINE double fmod(double a, double b) { return WENGERT_FMOD(a, b); }
WENGERT_INLINE float fmod(float a, float b) { return WENGERT_FMODF(a, b); }

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
