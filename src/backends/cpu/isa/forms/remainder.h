// The vector form of fmod (backends/cpu/isa/vector_forms.cpp).
#pragma once

#include "backends/cpu/isa/forms/series.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

// --- The remainder of a quotient that is exact in T: a fused multiply-add gives it, of the truncated quotient or of the one above,
// to which rounding may have led.
template <class T>
struct Fmod {
    static constexpr T kExact = std::is_same_v<T, float> ? T(16777216) : T(9007199254740992);
    WENGERT_INLINE static bool is_usual(T a, T b) { return !(abs(a) / abs(b) >= kExact); }
    WENGERT_INLINE static T usual(T a, T b) {
        const T x = abs(a), y = abs(b), r = fused(-trunc(x / y), y, x);
        return copysign(select(x < y, x, select(r < 0, r + y, r)), a);
    }
    WENGERT_INLINE static T one(T a, T b) { return is_usual(a, b) ? usual(a, b) : static_cast<T>(std::fmod(a, b)); }
    template <class V>
    WENGERT_INLINE static V all(V first, V second) {
        constexpr int lanes = sizeof(V) / sizeof(T);
        T a[lanes], b[lanes], y[lanes];
        __builtin_memcpy(a, &first, sizeof(V));
        __builtin_memcpy(b, &second, sizeof(V));
        int rest = 0;
        for (int i = 0; i < lanes; ++i) {
            y[i] = usual(a[i], b[i]);
            rest |= !is_usual(a[i], b[i]);
        }
        if (rest)
            for (int i = 0; i < lanes; ++i)
                if (!is_usual(a[i], b[i])) y[i] = static_cast<T>(std::fmod(a[i], b[i]));
        __builtin_memcpy(&first, y, sizeof(V));
        return first;
    }
};

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
