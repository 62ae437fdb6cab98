// Contiguous rows of floating elements: reduced in lanes, folded into a wide accumulator every kSteps steps.
#pragma once

#include "kernels/isa/reduce_ops.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int64_t kSteps = 64;  // additions per lane before it is folded

// Fewer elements than a bundle of lanes.
template <class Op, class T>
WENGERT_ALWAYS_INLINE T short_row(const T* p, int64_t n) {
    T a = Op::identity, b = Op::identity;
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
        a = Op::step(a, p[i]);
        b = Op::step(b, p[i + 1]);
    }
    if (i < n) a = Op::step(a, p[i]);
    return Op::join(a, b);
}

template <class Op, class T>
WENGERT_ALWAYS_INLINE typename Op::Acc row(const T* p, int64_t n, typename Op::Acc acc) {
    constexpr int64_t kCount = Lanes<T>::kCount;
    while (n >= kCount) {
        Lanes<T> lanes(Op::identity);
        int64_t steps = n / kCount < kSteps ? n / kCount : kSteps;
        for (int64_t s = 0; s < steps; ++s, p += kCount)
            lanes.absorb(p, [](auto a, auto x) { return Op::step(a, x); });
        T folded;
        lanes.fold(&folded, 1, [](T a, T b) { return Op::join(a, b); });
        acc = Op::merge(acc, folded);
        n -= steps * kCount;
    }
    return n ? Op::merge(acc, short_row<Op>(p, n)) : acc;
}

template <class T>
WENGERT_ALWAYS_INLINE double row_sum(const T* p, int64_t n) {
    return row<SumOp<T>>(p, n, 0.0);
}

// sum of a * b
template <class T>
WENGERT_ALWAYS_INLINE double row_dot(const T* a, const T* b, int64_t n) {
    constexpr int64_t kCount = Lanes<T>::kCount;
    double total = 0;
    while (n >= kCount) {
        Lanes<T> lanes(T{0});
        int64_t steps = n / kCount < kSteps ? n / kCount : kSteps;
        for (int64_t s = 0; s < steps; ++s, a += kCount, b += kCount)
            for (int k = 0; k < Lanes<T>::kVectors; ++k)
                lanes.v[k] += Lanes<T>::load(a + k * Lanes<T>::kWidth) * Lanes<T>::load(b + k * Lanes<T>::kWidth);
        T folded;
        lanes.fold(&folded, 1, [](T x, T y) { return x + y; });
        total += static_cast<double>(folded);
        n -= steps * kCount;
    }
    T rest = 0;
    for (int64_t i = 0; i < n; ++i) rest += a[i] * b[i];
    return total + static_cast<double>(rest);
}

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
