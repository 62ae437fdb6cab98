// What device code must know before anything else, so that the sources of the CPU compile for a device as they are: those
// of scalar/ and special/, and with them what is generated.
//
// NVRTC is told -std=c++20, -default-device (what is not marked is a function of the device), -rdc=true (functions of other
// units are linked), -fmad=false (a fused multiply-add only where one is written, as on the CPU) and
// --pre-include=backends/cuda/prelude.cuh. It has the standard library with it, libcu++: with its folder cuda/std on the
// include path, `#include <complex>` finds cuda/std/complex, and what that has in cuda::std is meant by std. Missing are a
// few names of the compiler and of POSIX, which follow.
#pragma once

#include <cuda/std/complex>

namespace std {
using namespace cuda::std;
}

#pragma nv_diag_suppress 1097  // attributes of GCC: always_inline, cold

#define __FMA__ 1  // __builtin_fma is one instruction

#define WENGERT_BUILTIN1(name)                                         \
    inline float __builtin_##name##f(float x) { return ::name##f(x); } \
    inline double __builtin_##name(double x) { return ::name(x); }
#define WENGERT_BUILTIN2(name)                                                     \
    inline float __builtin_##name##f(float a, float b) { return ::name##f(a, b); } \
    inline double __builtin_##name(double a, double b) { return ::name(a, b); }
WENGERT_BUILTIN1(fabs)
WENGERT_BUILTIN1(sqrt)
WENGERT_BUILTIN1(floor)
WENGERT_BUILTIN1(ceil)
WENGERT_BUILTIN1(trunc)
WENGERT_BUILTIN1(rint)
WENGERT_BUILTIN2(copysign)
#undef WENGERT_BUILTIN1
#undef WENGERT_BUILTIN2
inline float __builtin_fmaf(float a, float b, float c) { return ::fmaf(a, b, c); }
inline double __builtin_fma(double a, double b, double c) { return ::fma(a, b, c); }

inline double lgamma_r(double x, int*) { return ::lgamma(x); }  // no caller asks for the sign
