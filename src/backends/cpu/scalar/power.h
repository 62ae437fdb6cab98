// Powers of floating-point numbers.
//
// x ** 2 is the commonest power of all, and its derivative is x ** 1; neither should cost what a general power costs. The
// exponents of one vector are nearly always the same number, so the vector function looks: if all are 1, 2, 3, 4 or -1, it
// multiplies or divides, if 1/2 or -1/2, it takes a root, else it calls the C library's. Formulas need not know.
//
// The vector forms are written by hand in backends/cpu/isa/power.cpp, one set per instruction set.
#pragma once

#include "backends/cpu/scalar/arithmetic.h"
#include "backends/cpu/scalar/libmvec.h"

#define WENGERT_POW WENGERT_ISA_NAME(pow)
#define WENGERT_POWF WENGERT_ISA_NAME(powf)

#if defined(WENGERT_HAVE_LIBMVEC) && defined(__SSE4_1__)
#define WENGERT_HAVE_VECTOR_POWER 1
#endif
#if defined(WENGERT_HAVE_VECTOR_POWER) && !defined(WENGERT_DEFINES_VECTOR_POWER)
extern "C" {
__attribute__((simd("notinbranch"), const)) double WENGERT_POW(double, double) noexcept;
__attribute__((simd("notinbranch"), const)) float WENGERT_POWF(float, float) noexcept;
}
#endif

namespace wengert::scalar {
inline namespace WENGERT_ISA {

WENGERT_INLINE float root(float x) { return __builtin_sqrtf(x); }
WENGERT_INLINE double root(double x) { return __builtin_sqrt(x); }

// The power 1/2. Unlike the square root it is +0 at -0 and +infinity at -infinity.
template <class V>
WENGERT_INLINE V square_root_power(V x) {
    return x == -std::numeric_limits<float>::infinity() ? V{} + std::numeric_limits<float>::infinity() : V(root(x + 0));
}

// One element, or the general case of a vector as `general` computes it. V is a floating-point type or a vector of them.
template <class V, class Same, class General>
WENGERT_INLINE V power(V x, Same exponent_is, General general) {
    if (exponent_is(2)) return x * x;
    if (exponent_is(1)) return x;
    if (exponent_is(3)) return x * x * x;
    if (exponent_is(4)) return (x * x) * (x * x);
    if (exponent_is(-1)) return 1 / x;
    if (exponent_is(0.5f)) return square_root_power(x);
    if (exponent_is(-0.5f)) return 1 / square_root_power(x);
    return general();
}

#if defined(WENGERT_HAVE_VECTOR_POWER) && !defined(WENGERT_DEFINES_VECTOR_POWER)
WENGERT_INLINE double pow(double x, double e) { return WENGERT_POW(x, e); }
WENGERT_INLINE float pow(float x, float e) { return WENGERT_POWF(x, e); }
#else
WENGERT_INLINE double pow(double x, double e) {
    return power(x, [e](float n) { return e == static_cast<double>(n); }, [=] { return ::pow(x, e); });
}
WENGERT_INLINE float pow(float x, float e) {
    return power(x, [e](float n) { return e == n; }, [=] { return ::powf(x, e); });
}
#endif

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
