// Tells the compiler which functions of the C library have vector forms (glibc's libmvec, complete from 2.35).
//
// With these declarations a loop that calls exp becomes a loop that calls _ZGVdN4v_exp (AVX2) or its like. glibc makes the
// same declarations only under -ffast-math, which this project never uses.
#pragma once

#include <cmath>

#ifdef WENGERT_HAVE_LIBMVEC
extern "C" {
#define WENGERT_VECTOR1(name)                                                  \
    __attribute__((simd("notinbranch"))) extern float name##f(float) noexcept; \
    __attribute__((simd("notinbranch"))) extern double name(double) noexcept;
#define WENGERT_VECTOR2(name)                                                         \
    __attribute__((simd("notinbranch"))) extern float name##f(float, float) noexcept; \
    __attribute__((simd("notinbranch"))) extern double name(double, double) noexcept;
WENGERT_VECTOR1(exp)
WENGERT_VECTOR1(exp2)
WENGERT_VECTOR1(expm1)
WENGERT_VECTOR1(log)
WENGERT_VECTOR1(log1p)
WENGERT_VECTOR1(log2)
WENGERT_VECTOR1(log10)
WENGERT_VECTOR1(sin)
WENGERT_VECTOR1(tan)
WENGERT_VECTOR1(sinh)
WENGERT_VECTOR1(cosh)
WENGERT_VECTOR1(tanh)
WENGERT_VECTOR1(asin)
WENGERT_VECTOR1(acos)
WENGERT_VECTOR1(atan)
WENGERT_VECTOR1(asinh)
WENGERT_VECTOR1(acosh)
WENGERT_VECTOR1(atanh)
WENGERT_VECTOR1(erf)
WENGERT_VECTOR1(erfc)
WENGERT_VECTOR2(pow)
WENGERT_VECTOR2(atan2)
WENGERT_VECTOR2(hypot)
__attribute__((simd("notinbranch"), const)) extern float wengert_cosf(float) noexcept __asm__("cosf");
__attribute__((simd("notinbranch"), const)) extern double wengert_cos(double) noexcept __asm__("cos");
#undef WENGERT_VECTOR1
#undef WENGERT_VECTOR2
}
#endif
