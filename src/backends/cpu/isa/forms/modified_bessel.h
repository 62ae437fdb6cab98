// Vector forms of modified Bessel functions (backends/cpu/isa/vector_forms.cpp).
#pragma once

#include "backends/cpu/isa/forms/modified_bessel_series.h"
#include "backends/cpu/isa/forms/series.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

// --- Modified Bessel functions times exp(-x), and derivatives: `Weight` is the power of 1 + x in the near series, `Power`
// twice that of x in the far one.
WENGERT_INLINE double near_variable(double a) { return fused(a, 0.25, -1.0); }
WENGERT_INLINE double far_variable(double a) { return 16 / a - 1; }

template <class Near, int Weight, class Far, int Power>
struct ScaledBessel {
    template <class P>
    WENGERT_INLINE static double near(double a) {
        const double weight = 1 + a;
        const double divisor = Weight == 1 ? weight : Weight == 2 ? weight * weight : weight * weight * weight;
        return series<Near, P>(near_variable(a)) / divisor;
    }
    template <class P>
    WENGERT_INLINE static double far(double a) {
        const double divisor = Power == 1 ? root(a) : Power == 3 ? a * root(a) : a * a * root(a);
        return series<Far, P>(far_variable(a)) / divisor;
    }
};
using Scaled0 = ScaledBessel<I0eNear, 1, I0eFar, 1>;
using Scaled1 = ScaledBessel<I1eNear, 2, I1eFar, 1>;  // over x near 0
using Scaled2 = ScaledBessel<I2eNear, 2, I2eFar, 1>;  // over x^2 near 0

struct ScaledI {
    static bool is_usual(double x) { return abs(x) <= 8; }
    static bool is_second(double x) { return abs(x) < 1e100; }
};
struct I0e : ScaledI {
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return select(x == 0, 1.0, Scaled0::near<P>(abs(x)));  // exactly
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return Scaled0::far<P>(abs(x));
    }
};
struct I1e : ScaledI {
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return x * Scaled1::near<P>(abs(x));
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return copysign(Scaled1::far<P>(abs(x)), x);
    }
};
struct I2e : ScaledI {
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return x * x * Scaled2::near<P>(abs(x));
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return Scaled2::far<P>(abs(x));
    }
};
template <class Scaled>
struct Unscaled {
    static bool is_usual(double x) { return abs(x) <= 8; }
    static bool is_second(double x) { return abs(x) < 700; }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return exp(abs(x)) * Scaled::template usual<P>(x);
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return exp(abs(x)) * Scaled::template second<P>(x);
    }
};
template <class Scaled>
struct ScaledDerivative {
    static bool is_usual(double x) { return (x >= 0) & (x <= 8); }
    static bool is_second(double x) { return (x > 8) & (x < 1e100); }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return Scaled::template near<P>(x);
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return Scaled::template far<P>(x);
    }
};

using BesselIeDerivative1 = ScaledDerivative<ScaledBessel<I0eD1Near, 2, I0eD1Far, 3>>;
using BesselIeDerivative2 = ScaledDerivative<ScaledBessel<I0eD2Near, 3, I0eD2Far, 5>>;

// --- Modified ones of the second kind, near 0 with the logarithm of Abramowitz and Stegun 9.6.13 and 9.6.11, times `Factor`.
struct UnscaledK {
    template <class P>
    WENGERT_INLINE static double near(double) {
        return 1;
    }
    template <class P>
    WENGERT_INLINE static double far(double x) {
        return exp(-x);
    }
    static bool is_second(double x) { return (x > 1) & (x < 700); }
};
struct ScaledK {
    template <class P>
    WENGERT_INLINE static double near(double x) {
        return exp(x);
    }
    template <class P>
    WENGERT_INLINE static double far(double) {
        return 1;
    }
    static bool is_second(double x) { return (x > 1) & (x < 1e100); }
};
template <int Order, class Factor>
struct BesselK {
    static bool is_usual(double x) { return (x > 0) & (x <= 1); }
    static bool is_second(double x) { return Factor::is_second(x); }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        const double t = fused(2 * x, x, -1.0), logarithm = log_of_positive<P>(x);
        const double value = Order == 0 ? fused(-logarithm, series<I0Small, P>(t), series<K0Small, P>(t))
                                        : fused(logarithm * x, series<I1Small, P>(t), series<K1Small, P>(t) / x);
        return value * Factor::template near<P>(x);
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        const double t = 2 / x - 1, value = Order == 0 ? series<K0eFar, P>(t) : series<K1eFar, P>(t);
        return value / root(x) * Factor::template far<P>(x);
    }
};

using ModifiedK0 = BesselK<0, UnscaledK>;
using ModifiedK1 = BesselK<1, UnscaledK>;
using ScaledK0 = BesselK<0, ScaledK>;
using ScaledK1 = BesselK<1, ScaledK>;

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
