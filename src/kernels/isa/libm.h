// exp, log and pow for the hand-written loops: glibc's vector versions where a loop calls them, through OpenMP-style
// `simd` declarations (libmvec; at most 4 ulp), the scalar functions everywhere else.
#pragma once

#include <cmath>

#include "kernels/isa/vectors.h"

#ifdef WENGERT_HAVE_LIBMVEC
extern "C" {
float expf(float) noexcept __attribute__((simd("notinbranch")));
double exp(double) noexcept __attribute__((simd("notinbranch")));
float powf(float, float) noexcept __attribute__((simd("notinbranch")));
double pow(double, double) noexcept __attribute__((simd("notinbranch")));
}
#endif

namespace wengert::kernels::WENGERT_ISA {
namespace {

WENGERT_ALWAYS_INLINE float vector_exp(float x) { return ::expf(x); }
WENGERT_ALWAYS_INLINE double vector_exp(double x) { return ::exp(x); }
WENGERT_ALWAYS_INLINE float vector_pow(float x, float p) { return ::powf(x, p); }
WENGERT_ALWAYS_INLINE double vector_pow(double x, double p) { return ::pow(x, p); }

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
