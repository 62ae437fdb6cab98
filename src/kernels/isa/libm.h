// exp and pow for the hand-written loops, overloaded for float and double; a loop that calls them is vectorised.
#pragma once

#include "kernels/isa/vectors.h"
#include "kernels/scalar/libmvec.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

WENGERT_ALWAYS_INLINE float vector_exp(float x) { return ::expf(x); }
WENGERT_ALWAYS_INLINE double vector_exp(double x) { return ::exp(x); }
WENGERT_ALWAYS_INLINE float vector_pow(float x, float p) { return ::powf(x, p); }
WENGERT_ALWAYS_INLINE double vector_pow(double x, double p) { return ::pow(x, p); }

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
