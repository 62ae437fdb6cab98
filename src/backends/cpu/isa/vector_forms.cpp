// The vector forms of backends/cpu/scalar/vector_forms.h, under the names that the vector function ABI prescribes for them:
// _ZGV, the instruction set (b: SSE, d: AVX2, e: AVX-512), N and the number of lanes, v for each vector argument.
//
// A function has a formula without branches for its usual arguments, and may have another for most of the rest. A vector
// computes the first for all its lanes, the second where some lane is not usual, and where a lane is neither, the C function
// for that lane. One element goes the same way, so that a result does not depend on its neighbours.
//
// Most special functions are computed in double and rounded; for float, with shorter expansions. Where float suffices for float,
// the formulas are templates of what they compute in.
#define WENGERT_DEFINES_VECTOR_FORMS  // else the compiler makes its own vector forms of the functions below
#include "backends/cpu/scalar/vector_forms.h"

#ifdef WENGERT_HAVE_VECTOR_FORMS

#include <immintrin.h>

#include "backends/cpu/isa/forms/bessel.h"
#include "backends/cpu/isa/forms/error_functions.h"
#include "backends/cpu/isa/forms/gamma_functions.h"
#include "backends/cpu/isa/forms/lanes.h"
#include "backends/cpu/isa/forms/modified_bessel.h"
#include "backends/cpu/isa/forms/remainder.h"
#include "backends/cpu/scalar/recurrences.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

#define WENGERT_POLYNOMIAL(Polynomial, name)                                                 \
    struct Polynomial##At {                                                                  \
        double operator()(double x, double n) const { return wengert::special::name(x, n); } \
    };                                                                                       \
    template <class T>                                                                       \
    using Polynomial = Recurrence<T, wengert::special::Polynomial, Polynomial##At>;
WENGERT_POLYNOMIAL(ChebyshevT, chebyshev_polynomial_t)
WENGERT_POLYNOMIAL(ChebyshevU, chebyshev_polynomial_u)
WENGERT_POLYNOMIAL(ChebyshevV, chebyshev_polynomial_v)
WENGERT_POLYNOMIAL(ChebyshevW, chebyshev_polynomial_w)
WENGERT_POLYNOMIAL(Legendre, legendre_polynomial_p)
WENGERT_POLYNOMIAL(HermiteH, hermite_polynomial_h)
WENGERT_POLYNOMIAL(HermiteHe, hermite_polynomial_he)
#undef WENGERT_POLYNOMIAL
#define WENGERT_POLYNOMIAL(Polynomial, name)                                                              \
    struct Polynomial##At {                                                                               \
        double operator()(double p, double x, double n) const { return wengert::special::name(p, x, n); } \
    };                                                                                                    \
    template <class T>                                                                                    \
    using Polynomial = Recurrence<T, wengert::special::Polynomial, Polynomial##At>;
WENGERT_POLYNOMIAL(Gegenbauer, gegenbauer)
WENGERT_POLYNOMIAL(Laguerre, laguerre)
#undef WENGERT_POLYNOMIAL

#define WENGERT_FAMILY(Name, name, ...)                                                      \
    struct Name##Of {                                                                        \
        double operator()(double n, double x) const { return wengert::special::name(n, x); } \
    };                                                                                       \
    template <class T>                                                                       \
    using Name = Family<T, Name##Of, __VA_ARGS__>;
WENGERT_FAMILY(ErfcxIntegral, erfcx_integral, Member<1, ErfcxIntegral1>)
WENGERT_FAMILY(Polygamma, polygamma, Member<1, Trigamma>)
WENGERT_FAMILY(BesselI, bessel_i, Member<2, Unscaled<I2e>>)
WENGERT_FAMILY(BesselIeDerivative, bessel_ie_derivative, Member<1, BesselIeDerivative1>, Member<2, BesselIeDerivative2>)
WENGERT_FAMILY(SphericalBessel, spherical_bessel, Member<0, SphericalBessel0>, Member<1, SphericalBessel1>)
WENGERT_FAMILY(BesselJ, bessel_j, Member<0, BesselJ0>, Member<1, BesselJ1>)
WENGERT_FAMILY(BesselY, bessel_y, Member<0, BesselY0>, Member<1, BesselY1>)
#undef WENGERT_FAMILY

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA

namespace forms = wengert::kernels::WENGERT_ISA;
namespace special = wengert::special;

#ifdef __AVX512F__
#define WENGERT_AVX512(...) __VA_ARGS__
#else
#define WENGERT_AVX512(...)
#endif

#define WENGERT_DEFINE1(T, name, ...) \
    T name(T) noexcept;               \
    T name(T x) noexcept { return __VA_ARGS__; }
#define WENGERT_DEFINE2(T, name, ...) \
    T name(T, T) noexcept;            \
    T name(T a, T b) noexcept { return __VA_ARGS__; }
#define WENGERT_DEFINE3(T, name, ...) \
    T name(T, T, T) noexcept;         \
    T name(T a, T b, T c) noexcept { return __VA_ARGS__; }

#define WENGERT_ONE(T, name, Form, other) \
    WENGERT_DEFINE1(T, name, forms::one_element<forms::Form>(x, [](double x) { return special::other; }))
#define WENGERT_ALL(V, T, prefix, name, Form, other) \
    WENGERT_DEFINE1(V, WENGERT_JOIN(prefix, name),   \
                    forms::all_lanes<forms::Form, T>(x, [](double x) { return special::other; }))
#define WENGERT_FORM(name, ...)                                                                 \
    WENGERT_ONE(double, WENGERT_ISA_NAME(name), __VA_ARGS__)                                    \
    WENGERT_ONE(float, WENGERT_ISA_NAME(name##f), __VA_ARGS__)                                  \
    WENGERT_ALL(__m128d, double, _ZGVbN2v_, WENGERT_ISA_NAME(name), __VA_ARGS__)                \
    WENGERT_ALL(__m128, float, _ZGVbN4v_, WENGERT_ISA_NAME(name##f), __VA_ARGS__)               \
    WENGERT_ALL(__m256d, double, _ZGVdN4v_, WENGERT_ISA_NAME(name), __VA_ARGS__)                \
    WENGERT_ALL(__m256, float, _ZGVdN8v_, WENGERT_ISA_NAME(name##f), __VA_ARGS__)               \
    WENGERT_AVX512(WENGERT_ALL(__m512d, double, _ZGVeN8v_, WENGERT_ISA_NAME(name), __VA_ARGS__) \
                       WENGERT_ALL(__m512, float, _ZGVeN16v_, WENGERT_ISA_NAME(name##f), __VA_ARGS__))

#define WENGERT_ALL2(V, T, prefix, name, Form) WENGERT_DEFINE2(V, WENGERT_JOIN(prefix, name), forms::Form<T>::all(a, b))
#define WENGERT_FORM2(name, Form)                                                          \
    WENGERT_DEFINE2(double, WENGERT_ISA_NAME(name), forms::Form<double>::one(a, b))        \
    WENGERT_DEFINE2(float, WENGERT_ISA_NAME(name##f), forms::Form<float>::one(a, b))       \
    WENGERT_ALL2(__m128d, double, _ZGVbN2vv_, WENGERT_ISA_NAME(name), Form)                \
    WENGERT_ALL2(__m128, float, _ZGVbN4vv_, WENGERT_ISA_NAME(name##f), Form)               \
    WENGERT_ALL2(__m256d, double, _ZGVdN4vv_, WENGERT_ISA_NAME(name), Form)                \
    WENGERT_ALL2(__m256, float, _ZGVdN8vv_, WENGERT_ISA_NAME(name##f), Form)               \
    WENGERT_AVX512(WENGERT_ALL2(__m512d, double, _ZGVeN8vv_, WENGERT_ISA_NAME(name), Form) \
                       WENGERT_ALL2(__m512, float, _ZGVeN16vv_, WENGERT_ISA_NAME(name##f), Form))

#define WENGERT_ALL3(V, T, prefix, name, Form) \
    WENGERT_DEFINE3(V, WENGERT_JOIN(prefix, name), forms::Form<T>::all(a, b, c))
#define WENGERT_FORM3(name, Form)                                                           \
    WENGERT_DEFINE3(double, WENGERT_ISA_NAME(name), forms::Form<double>::one(a, b, c))      \
    WENGERT_DEFINE3(float, WENGERT_ISA_NAME(name##f), forms::Form<float>::one(a, b, c))     \
    WENGERT_ALL3(__m128d, double, _ZGVbN2vvv_, WENGERT_ISA_NAME(name), Form)                \
    WENGERT_ALL3(__m128, float, _ZGVbN4vvv_, WENGERT_ISA_NAME(name##f), Form)               \
    WENGERT_ALL3(__m256d, double, _ZGVdN4vvv_, WENGERT_ISA_NAME(name), Form)                \
    WENGERT_ALL3(__m256, float, _ZGVdN8vvv_, WENGERT_ISA_NAME(name##f), Form)               \
    WENGERT_AVX512(WENGERT_ALL3(__m512d, double, _ZGVeN8vvv_, WENGERT_ISA_NAME(name), Form) \
                       WENGERT_ALL3(__m512, float, _ZGVeN16vvv_, WENGERT_ISA_NAME(name##f), Form))

extern "C" {

WENGERT_FORM(erfinv, Erfinv, erfinv(x))
WENGERT_FORM(ndtri, Ndtri, ndtri(x))
WENGERT_FORM(erfcx, Erfcx, erfcx(x))
WENGERT_FORM(log_ndtr, LogNdtr, log_ndtr(x))
WENGERT_FORM(lgamma, Lgamma, lgamma(x))
WENGERT_FORM(digamma, Digamma, digamma(x))
WENGERT_FORM(i0, Unscaled<forms::I0e>, i0(x))
WENGERT_FORM(i0e, I0e, i0e(x))
WENGERT_FORM(i1, Unscaled<forms::I1e>, i1(x))
WENGERT_FORM(i1e, I1e, i1e(x))
WENGERT_FORM(modified_bessel_k0, ModifiedK0, modified_bessel_k0(x))
WENGERT_FORM(modified_bessel_k1, ModifiedK1, modified_bessel_k1(x))
WENGERT_FORM(scaled_modified_bessel_k0, ScaledK0, scaled_modified_bessel_k0(x))
WENGERT_FORM(scaled_modified_bessel_k1, ScaledK1, scaled_modified_bessel_k1(x))
WENGERT_FORM2(erfcx_integral, ErfcxIntegral)
WENGERT_FORM2(polygamma, Polygamma)
WENGERT_FORM2(bessel_i, BesselI)
WENGERT_FORM2(bessel_ie_derivative, BesselIeDerivative)
WENGERT_FORM2(spherical_bessel, SphericalBessel)
WENGERT_FORM2(bessel_j, BesselJ)
WENGERT_FORM2(bessel_y, BesselY)
WENGERT_FORM2(chebyshev_polynomial_t, ChebyshevT)
WENGERT_FORM2(chebyshev_polynomial_u, ChebyshevU)
WENGERT_FORM2(chebyshev_polynomial_v, ChebyshevV)
WENGERT_FORM2(chebyshev_polynomial_w, ChebyshevW)
WENGERT_FORM2(legendre_polynomial_p, Legendre)
WENGERT_FORM2(hermite_polynomial_h, HermiteH)
WENGERT_FORM2(hermite_polynomial_he, HermiteHe)
WENGERT_FORM2(fmod, Fmod)
WENGERT_FORM3(gegenbauer, Gegenbauer)
WENGERT_FORM3(laguerre, Laguerre)

}  // extern "C"

#endif
