// What vector forms are made of: series whose shorter version float takes, and logarithms (backends/cpu/isa/vector_forms.cpp).
#pragma once

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/scalar/activation.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

WENGERT_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
WENGERT_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// Even and odd powers apart, which halves the chain of dependent operations.
template <int First, class V, int Count>
WENGERT_INLINE V every_second(V square, const double (&c)[Count]) {
    if constexpr (First + 2 < Count)
        return fused(every_second<First + 2>(square, c), square, static_cast<V>(c[First]));
    else
        return static_cast<V>(c[First]);
}
template <class V, int Count>
WENGERT_INLINE V sum_of_powers(V t, const double (&c)[Count]) {
    const V square = t * t;
    return fused(t, every_second<1>(square, c), every_second<0>(square, c));
}
template <class Series, class P, class V>
WENGERT_INLINE V series(V t) {
    if constexpr (std::is_same_v<P, float>)
        return sum_of_powers(t, Series::kFloat);
    else
        return sum_of_powers(t, Series::kDouble);
}

// The C library's vectors are as slow as its functions where an argument is special: so it gets none that does not count.
// What P rounds off is little beside the sums that it goes into.
template <class P>
WENGERT_INLINE double minus_log(double x) {
    return -static_cast<double>(log(select(x > 0, static_cast<P>(x), P(1))));
}
template <class P>
WENGERT_INLINE double log_of_positive(double x) {
    return -minus_log<P>(x);
}

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
