// Vector forms of the error function's relatives (backends/cpu/isa/vector_forms.cpp).
#pragma once

#include "backends/cpu/isa/forms/error_functions_series.h"
#include "backends/cpu/isa/forms/series.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

// --- Inverses of the error function and of the normal distribution function: an odd function of y times one of
// w = -log(1 - y^2), in which both become smooth up to the ends.
template <class P>
WENGERT_INLINE double erfinv_near(double y, double w) {
    return y * series<ErfinvNear, P>(fused(w, 0.32, -1.0));
}
template <class P>
WENGERT_INLINE double erfinv_far(double y, double w) {
    return y * series<ErfinvFar, P>(fused(root(w) - 2.5, 1 / 1.875, -1.0));
}
struct Erfinv {
    static bool is_usual(double y) { return abs(y) < 0.999; }
    static bool is_second(double) { return true; }
    template <class P>
    WENGERT_INLINE static double log_term(double y) {
        return minus_log<P>((1 - y) * (1 + y));
    }
    template <class P>
    WENGERT_INLINE static double usual(double y) {
        return erfinv_near<P>(y, log_term<P>(y));
    }
    template <class P>
    WENGERT_INLINE static double second(double y) {
        const double end = select(abs(y) == 1, copysign(inf<double>, y), nan<double>);
        return select(abs(y) < 1, erfinv_far<P>(y, log_term<P>(y)), end);
    }
};
struct Ndtri {
    static bool is_usual(double p) { return (p > 0.0005) & (p < 0.9995); }
    static bool is_second(double p) { return !((p >= 0) & (p < 1e-16)); }
    template <class P>
    WENGERT_INLINE static double log_term(double p) {
        return minus_log<P>(4 * p * (1 - p));
    }
    template <class P>
    WENGERT_INLINE static double usual(double p) {
        return 1.41421356237309504880 * erfinv_near<P>(2 * p - 1, log_term<P>(p));
    }
    template <class P>
    WENGERT_INLINE static double second(double p) {
        const double end = select(p == 1, inf<double>, nan<double>);
        return select((p > 0) & (p < 1), 1.41421356237309504880 * erfinv_far<P>(2 * p - 1, log_term<P>(p)), end);
    }
};

// --- exp(x^2) erfc(x) and its integral: on the half-line after M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation
// of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math. Comp. 36 (1981); on the other by reflection.
WENGERT_INLINE double half_line(double a) { return (a - 3) / (a + 3); }
// exp(x^2), of the square with what its rounding leaves.
WENGERT_INLINE double exp_of_square(double x) {
    const double square = x * x;
    return exp(square) * (1 + fused(x, x, -square));
}
WENGERT_INLINE double negative_part(double x) { return select(x < 0, x, 0.0); }
template <class P>
WENGERT_INLINE double erfcx_of_positive(double a) {
    return series<ErfcxSeries, P>(half_line(a)) / (1 + 2 * a);
}
struct Erfcx {
    static bool is_usual(double x) { return (x > -26) & (x < 1e100); }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        const double scaled = erfcx_of_positive<P>(abs(x));
        const double value = select(x < 0, 2 * exp_of_square(negative_part(x)) - scaled, scaled);
        return select(x == 0, 1.0, value);  // exactly
    }
};
struct ErfcxIntegral1 {
    static bool is_usual(double x) { return (x > -26) & (x < 1e100); }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        const double a = abs(x), scaled = series<Erfcx1Series, P>(half_line(a)) / ((1 + 2 * a) * (1 + 2 * a));
        return select(x < 0, 2 * a * exp_of_square(negative_part(x)) + scaled, scaled);
    }
};
struct LogNdtr {
    static bool is_usual(double x) { return abs(x) < 1e100; }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        const double far = log(erfcx_of_positive<P>(abs(x) * 0.70710678118654752440) / 2) - x * x / 2;
        return select(x < -1, far, log1p(-ndtr(select(x < -1, 0.0, -x))));
    }
};

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
