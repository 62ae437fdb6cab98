// Special functions of numbers: by their vector forms where there are any, otherwise loops call them element by element.
#pragma once

#include "backends/cpu/scalar/config.h"
#include "backends/cpu/scalar/special_functions.h"
#include "backends/cpu/scalar/vector_forms.h"

namespace wengert::scalar {
inline namespace WENGERT_ISA {

#define WENGERT_SPECIAL1(name)                                        \
    WENGERT_INLINE double name(double x) { return special::name(x); } \
    WENGERT_INLINE float name(float x) { return static_cast<float>(special::name(static_cast<double>(x))); }
#define WENGERT_SPECIAL2(name)                                                                    \
    WENGERT_INLINE double name(double a, double b) { return special::name(a, b); }                \
    WENGERT_INLINE float name(float a, float b) {                                                 \
        return static_cast<float>(special::name(static_cast<double>(a), static_cast<double>(b))); \
    }
// Those whose sums end earlier in float.
#define WENGERT_BOTH2(name)                                                        \
    WENGERT_INLINE double name(double a, double b) { return special::name(a, b); } \
    WENGERT_INLINE float name(float a, float b) { return special::name(a, b); }
WENGERT_BOTH2(igamma)
WENGERT_BOTH2(igammac)
#undef WENGERT_BOTH2
WENGERT_SPECIAL1(trigamma)
WENGERT_SPECIAL2(zeta)
WENGERT_SPECIAL1(airy_ai)
#undef WENGERT_SPECIAL1
#undef WENGERT_SPECIAL2

}  // namespace WENGERT_ISA
}  // namespace wengert::scalar
