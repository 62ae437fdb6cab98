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
// of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math. Comp. 36 (1981); on the other by reflection. Float suffices for
// float.
template <class P>
WENGERT_INLINE P half_line(P a) {
    return (a - 3) / (a + 3);
}
// exp(x^2), of the square with what its rounding leaves.
template <class P>
WENGERT_INLINE P exp_of_square(P x) {
    const P square = x * x;
    return exp(square) * (1 + fused(x, x, -square));
}
template <class P>
WENGERT_INLINE P negative_part(P x) {
    return select(x < 0, x, P(0));
}
WENGERT_INLINE double erfcx_of_positive(double a) { return series<ErfcxSeries, double>(half_line(a)) / (1 + 2 * a); }
WENGERT_INLINE float erfcx_of_positive(float a) { return 2 * mills_ratio(1.41421356f * a); }
struct Erfcx {
    template <class P>
    WENGERT_INLINE static bool is_usual(P x) {
        return (x > -26) & (x < P(1e18));
    }
    template <class P>
    WENGERT_INLINE static P usual(P x) {
        const P scaled = erfcx_of_positive(abs(x));
        const P value = select(x < 0, 2 * exp_of_square(negative_part(x)) - scaled, scaled);
        return select(x == 0, P(1), value);  // exactly
    }
};
struct ErfcxIntegral1 {
    template <class P>
    WENGERT_INLINE static bool is_usual(P x) {
        return (x > -26) & (x < P(1e18));
    }
    template <class P>
    WENGERT_INLINE static P usual(P x) {
        const P a = abs(x), scaled = series<Erfcx1Series, P>(half_line(a)) / ((1 + 2 * a) * (1 + 2 * a));
        return select(x < 0, 2 * a * exp_of_square(negative_part(x)) + scaled, scaled);
    }
};
WENGERT_INLINE double mills(double a) { return erfcx_of_positive(a * 0.70710678118654752440) / 2; }
WENGERT_INLINE float mills(float a) { return mills_ratio(a); }
struct LogNdtr {
    template <class P>
    WENGERT_INLINE static bool is_usual(P x) {
        return abs(x) < P(1e18);
    }
    template <class P>
    WENGERT_INLINE static P usual(P x) {
        const P far = log(mills(abs(x))) - x * x / 2;
        return select(x < -1, far, log1p(-ndtr(select(x < -1, P(0), -x))));
    }
};

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
