// Vector forms of Bessel functions of the first and second kind, and of spherical ones (backends/cpu/isa/vector_forms.cpp).
#pragma once

#include "backends/cpu/isa/forms/bessel_series.h"
#include "backends/cpu/isa/forms/series.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

// --- Bessel functions of the first and second kind: on [-4, 4] an expansion in x^2 beside their zero, and the logarithm that
// those of the second kind have at 0 (Abramowitz and Stegun 9.1.13, 9.1.11); beyond by Hankel's (9.2.5, 9.2.6), where
// sines and cosines of x take the place of those of x - pi/4, which would be rounded.
WENGERT_INLINE double square_variable(double x) { return fused(x * x, 0.125, -1.0); }
// x^2 - (high + low)
WENGERT_INLINE double beside_zero(double x, double high, double low) { return fused(x, x, -high) - low; }
template <class P>
WENGERT_INLINE double j0_near(double x) {
    const double value =
        beside_zero(x, 5.783185962946784, 4.123247343506204e-16) * series<J0Near, P>(square_variable(x));
    return select(x == 0, 1.0, value);  // exactly
}
template <class P>
WENGERT_INLINE double j1_near(double x) {
    return x * beside_zero(x, 14.681970642123893, -9.858177825793294e-17) * series<J1Near, P>(square_variable(x));
}
// The real and the imaginary part of (cos + i sin)(x - pi/4) (P + i Q) sqrt(2 / (pi x)), x > 0: J0 and Y0; of those of order
// 1, Y1 and -J1 are the same for x - 3 pi/4 turned by a right angle.
template <class Cosine, class Sine, class P>
struct Hankel {
    double real, imaginary;
    WENGERT_INLINE explicit Hankel(double x) {
        const double a = abs(x);  // for the compiler another number: it would join sine and cosine of one
        const double s = sin(static_cast<P>(a)), c = cos(static_cast<P>(x)), inverse = 1 / a;
        const double t = fused(32 * inverse, inverse, -1.0), scale = 0.56418958354775628695 / root(a);
        const double p = scale * series<Cosine, P>(t), q = scale * inverse * series<Sine, P>(t);
        real = p * (s + c) - q * (s - c);
        imaginary = p * (s - c) + q * (s + c);
    }
};
struct FirstKind {
    static bool is_usual(double x) { return abs(x) <= 4; }
    static bool is_second(double x) { return abs(x) < 1e15; }
};
struct SecondKind {
    static bool is_usual(double x) { return (x > 0) & (x <= 4); }
    static bool is_second(double x) { return (x > 4) & (x < 1e15); }
};
struct BesselJ0 : FirstKind {
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return j0_near<P>(x);
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return Hankel<P0Far, Q0Far, P>(x).real;
    }
};
struct BesselJ1 : FirstKind {
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return j1_near<P>(x);
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        const double value = Hankel<P1Far, Q1Far, P>(x).imaginary;
        return select(x < 0, -value, value);
    }
};
constexpr double kTwoOverPi = 0.63661977236758134308;
struct BesselY0 : SecondKind {
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return fused(kTwoOverPi * log_of_positive<P>(x), j0_near<P>(x), series<Y0Near, P>(square_variable(x)));
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return Hankel<P0Far, Q0Far, P>(x).imaginary;
    }
};
struct BesselY1 : SecondKind {
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        const double pole = fused(log_of_positive<P>(x), j1_near<P>(x), -1 / x);
        return fused(x, series<Y1Near, P>(square_variable(x)), kTwoOverPi * pole);
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        return -Hankel<P1Far, Q1Far, P>(x).real;
    }
};

// --- sin z / z, and (sin z / z - cos z) / z, near 0 by its power series (Abramowitz and Stegun 10.1.2).
struct SphericalBessel0 {
    static bool is_usual(double z) { return abs(z) < 1e15; }
    template <class P>
    WENGERT_INLINE static double usual(double z) {
        return select(z == 0, 1.0, sin(static_cast<P>(z)) / z);
    }
};
struct SphericalBessel1 {
    static bool is_usual(double z) { return abs(z) < 1e15; }
    template <class P>
    WENGERT_INLINE static double usual(double z) {
        const double near = z * sum_of_powers(z * z, kJ1Series);
        const double a =
            abs(z);  // the compiler would join sine and cosine of one number in a function without vector form
        return select(a < 2, near, (sin(a) / a - cos(z)) / z);
    }
};

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
