// The vector forms of backends/cpu/scalar/vector_forms.h, under the names that the vector function ABI prescribes for them:
// _ZGV, the instruction set (b: SSE, d: AVX2, e: AVX-512), N and the number of lanes, v for each vector argument.
//
// A function has a formula without branches for its usual arguments, and may have another for most of the rest. A vector
// computes the first for all its lanes, the second where some lane is not usual, and where a lane is neither, the C function
// for that lane. One element goes the same way, so that a result does not depend on its neighbours.
//
// Special functions are computed in double and rounded; for float, with shorter expansions.
#define WENGERT_DEFINES_VECTOR_FORMS  // else the compiler makes its own vector forms of the functions below
#include "backends/cpu/scalar/vector_forms.h"

#ifdef WENGERT_HAVE_VECTOR_FORMS

#include <immintrin.h>

#include "backends/cpu/isa/expansions.h"
#include "backends/cpu/scalar/activation.h"
#include "backends/cpu/scalar/recurrences.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

WENGERT_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
WENGERT_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// Even and odd powers apart, which halves the chain of dependent operations.
template <int First, int Count>
WENGERT_INLINE double every_second(double square, const double (&c)[Count]) {
    if constexpr (First + 2 < Count)
        return fused(every_second<First + 2>(square, c), square, c[First]);
    else
        return c[First];
}
template <int Count>
WENGERT_INLINE double sum_of_powers(double t, const double (&c)[Count]) {
    const double square = t * t;
    return fused(t, every_second<1>(square, c), every_second<0>(square, c));
}
template <class Series, class P>
WENGERT_INLINE double series(double t) {
    if constexpr (std::is_same_v<P, float>)
        return sum_of_powers(t, Series::kFloat);
    else
        return sum_of_powers(t, Series::kDouble);
}

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

// --- log |gamma|: on [1, 3] by a series with the zeros at 1 and 2 as factors, to which the recurrence leads from (0, 8);
// beyond by Stirling's (Abramowitz and Stegun 6.1.15, 6.1.40). Of negative arguments by reflection (6.1.17) where that
// does not cancel; in double there is room for float to lose some digits.
struct Lgamma {
    static bool is_usual(double x) { return (x > 0) & (x < 1e300); }
    template <class P>
    WENGERT_INLINE static bool is_second(double x, double y) {
        return (x < 0) & (x > -1e9) & (std::is_same_v<P, float> | (abs(y) > 0.15 - 0.12 * x));
    }
    template <class P>
    WENGERT_INLINE static double of_positive(double x) {
        double z = x, product = 1;
        for (int i = 0; i < 5; ++i) {
            const bool above = z >= 3;
            z -= select(above, 1.0, 0.0);
            product *= select(above, z, 1.0);
        }
        const bool below = x < 1, stirling = x >= 8;
        const double logarithm = log(select(stirling | below, x, product));
        const double from_2 = select(below, x - 1, z - 2), from_1 = select(below, x, z - 1);
        const double near = from_1 * from_2 * series<LgammaSeries, P>(from_2) + select(below, -logarithm, logarithm);
        const double inverse = 1 / x, rest = inverse * sum_of_powers(inverse * inverse, kStirling);
        const double far = (x - 0.5) * logarithm - x + (0.91893853320467274178 + rest);
        return select(stirling, far, near);
    }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return of_positive<P>(abs(x));
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        const double sine = sin(pi<double> * (x - round(x)));
        return 1.14472988584940017414 - log(abs(x * sine)) - of_positive<P>(abs(x));
    }
};

// --- Its derivative: beside its zero on (0, 2), to which a step of the recurrence leads from (0, 1); beyond six steps up, which
// share a division, and the asymptotic series (Abramowitz and Stegun 6.3.5, 6.3.18). Of negative arguments by reflection
// (6.3.7) where that does not cancel.
struct Digamma {
    static bool is_usual(double x) { return (x > 0) & (x < 1e15); }
    template <class P>
    WENGERT_INLINE static bool is_second(double x, double y) {
        return (x < 0) & (x > -1e9) & (std::is_same_v<P, float> | (abs(y) > 1)) & (x != round(x));
    }
    template <class P>
    WENGERT_INLINE static double of_positive(double x) {
        const bool below = x < 1;
        const double z = select(below, x + 1, x), from_zero = (z - 1.4616321449683622) - 9.549995429965697e-17;
        const double near = from_zero * series<DigammaSeries, P>(fused(2.0, z, -3.0)) - select(below, 1 / x, 0.0);
        const double u = x + 2.5, a = fused(u, u, -6.25), b = fused(u, u, -2.25), c = fused(u, u, -0.25);
        const double inverse = 1 / (x + 6), square = inverse * inverse;
        const double tail = fused(square, sum_of_powers(square, kDigamma), 0.5 * inverse);
        const double steps = 2 * u * fused(a, b, c * (a + b)) / (a * b * c);
        return select(x < 2, near, log_of_positive<double>(x + 6) - (tail + steps));
    }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        return of_positive<P>(abs(x));
    }
    template <class P>
    WENGERT_INLINE static double second(double x) {
        const double part = pi<double> * (x - round(x));
        return of_positive<P>(1 + abs(x)) - pi<double> * cos(abs(part)) / sin(part);
    }
};

// --- The second derivative of log gamma: eight steps up, of which four share a division, then the asymptotic series
// (Abramowitz and Stegun 6.4.6, 6.4.11); of negative arguments by reflection (6.4.7).
struct Trigamma {
    static bool is_usual(double x) { return (abs(x) > 1e-15) & (abs(x) < 1e15); }
    WENGERT_INLINE static double four_terms(double x) {
        const double a = x * x, b = (x + 1) * (x + 1), c = (x + 2) * (x + 2), d = (x + 3) * (x + 3);
        return ((a + b) * (c * d) + (c + d) * (a * b)) / ((a * b) * (c * d));
    }
    template <class P>
    WENGERT_INLINE static double usual(double x) {
        const double y = select(x > 0, x, 1 - x), inverse = 1 / (y + 8), square = inverse * inverse;
        const double tail = inverse * fused(square, sum_of_powers(square, kBernoulli), fused(0.5, inverse, 1.0));
        const double positive = four_terms(y) + (four_terms(y + 4) + tail);
        const double sine = sin(pi<double> * (x - round(x)));
        return select(x > 0, positive, pi<double> * pi<double> / (sine * sine) - positive);
    }
};

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

// --- From a form to functions of one element and of vectors
template <class Form>
concept HasSecond = requires(double x) { Form::template second<double>(x); };

// Whether the second formula serves x, for which it gave y.
template <class Form, class P>
WENGERT_INLINE bool is_second(double x, double y) {
    if constexpr (requires { Form::is_second(x); })
        return Form::is_second(x);
    else
        return Form::template is_second<P>(x, y);
}

template <class Form, class T, class Other>
WENGERT_INLINE T one_element(T given, Other other) {
    const double x = given;
    if (Form::is_usual(x)) return static_cast<T>(Form::template usual<T>(x));
    if constexpr (HasSecond<Form>) {
        const double y = Form::template second<T>(x);
        if (is_second<Form, T>(x, y)) return static_cast<T>(y);
    }
    return static_cast<T>(other(x));
}

template <class Form, class T, class V, class Other>
WENGERT_INLINE V all_lanes(V given, Other other) {
    constexpr int lanes = sizeof(V) / sizeof(T);
    T x[lanes], y[lanes];
    __builtin_memcpy(x, &given, sizeof(V));
    int rest = 0;
    for (int i = 0; i < lanes; ++i) {
        y[i] = static_cast<T>(Form::template usual<T>(x[i]));
        rest |= !Form::is_usual(x[i]);
    }
    T unknown[lanes] = {};
    if (rest) {
        if constexpr (HasSecond<Form>) {
            rest = 0;
            for (int i = 0; i < lanes; ++i) {
                const double second = Form::template second<T>(x[i]);
                const bool usual = Form::is_usual(x[i]), known = usual | is_second<Form, T>(x[i], second);
                y[i] = select(usual, y[i], static_cast<T>(second));
                unknown[i] = select(known, T(0), T(1));
                rest |= !known;
            }
        } else {
            for (int i = 0; i < lanes; ++i) unknown[i] = select(Form::is_usual(x[i]), T(0), T(1));
        }
        if (rest)
            for (int i = 0; i < lanes; ++i)
                if (unknown[i] != 0) y[i] = static_cast<T>(other(x[i]));
    }
    __builtin_memcpy(&given, y, sizeof(V));
    return given;
}

// --- Families: a vector looks at its orders, which are nearly always one number.
template <int Order, class Form>
struct Member {
    static constexpr int order = Order;
    using form = Form;
};
template <class T, class Other, class... Members>
struct Family {
    WENGERT_INLINE static T one(T n, T x) {
        T y;
        auto other = [n](double x) { return Other()(static_cast<double>(n), x); };
        const bool found =
            ((n == T(Members::order) && (y = one_element<typename Members::form>(x, other), true)) || ...);
        return found ? y : static_cast<T>(other(x));
    }
    template <class V>
    WENGERT_INLINE static V all(V n, V x) {
        constexpr int lanes = sizeof(V) / sizeof(T);
        int differ = 0;
        for (int i = 1; i < lanes; ++i) differ |= n[i] != n[0];
        V y;
        auto other = [n](double x) { return Other()(static_cast<double>(n[0]), x); };
        const bool found =
            !differ &&
            ((n[0] == T(Members::order) && (y = all_lanes<typename Members::form, T>(x, other), true)) || ...);
        if (!found)
            for (int i = 0; i < lanes; ++i) y[i] = one(n[i], x[i]);
        return y;
    }
};

// --- Orthogonal polynomials: a vector looks at its degrees, which are nearly always one number.
template <class T, class Polynomial, class Other>
struct Recurrence {
    WENGERT_INLINE static T one(T x, T n) {
        return static_cast<T>(Other()(static_cast<double>(x), static_cast<double>(n)));
    }
    template <class V>
    WENGERT_INLINE static V all(V x, V n) {
        constexpr int lanes = sizeof(V) / sizeof(T);
        int differ = 0;
        for (int i = 1; i < lanes; ++i) differ |= n[i] != n[0];
        V y;
        if (differ || !(n[0] >= 1 && n[0] < 64)) {
            for (int i = 0; i < lanes; ++i) y[i] = one(x[i], n[i]);
            return y;
        }
        const Polynomial p;
        T at[lanes];
        double value[lanes], before[lanes];
        __builtin_memcpy(at, &x, sizeof(V));
        for (int i = 0; i < lanes; ++i) before[i] = 1, value[i] = p.second(at[i]);
        for (int k = 1, degree = static_cast<int>(n[0]); k < degree; ++k) {
            const double back = p.back(k);
            for (int i = 0; i < lanes; ++i) {
                const double product = p.slope(k, at[i]) * value[i], next = product - back * before[i];
                before[i] = value[i];
                value[i] = select(abs(product) < inf<double>, next, product);
            }
        }
        for (int i = 0; i < lanes; ++i) at[i] = static_cast<T>(value[i]);
        __builtin_memcpy(&y, at, sizeof(V));
        return y;
    }
};
#define WENGERT_POLYNOMIAL(Polynomial, name)                                                 \
    struct Polynomial##At {                                                                  \
        double operator()(double x, double n) const { return wengert::special::name(x, n); } \
    };                                                                                       \
    template <class T>                                                                       \
    using Polynomial = Recurrence<T, wengert::special::Polynomial, Polynomial##At>;
WENGERT_POLYNOMIAL(ChebyshevT, chebyshev_polynomial_t)
WENGERT_POLYNOMIAL(ChebyshevU, chebyshev_polynomial_u)
WENGERT_POLYNOMIAL(ChebyshevV, chebyshev_polynomial_v)
WENGERT_POLYNOMIAL(ChebyshevW, chebyshev_polynomial_w)
WENGERT_POLYNOMIAL(Legendre, legendre_polynomial_p)
WENGERT_POLYNOMIAL(HermiteH, hermite_polynomial_h)
WENGERT_POLYNOMIAL(HermiteHe, hermite_polynomial_he)
#undef WENGERT_POLYNOMIAL

#define WENGERT_FAMILY(Name, name, ...)                                                      \
    struct Name##Of {                                                                        \
        double operator()(double n, double x) const { return wengert::special::name(n, x); } \
    };                                                                                       \
    template <class T>                                                                       \
    using Name = Family<T, Name##Of, __VA_ARGS__>;
WENGERT_FAMILY(ErfcxIntegral, erfcx_integral, Member<1, ErfcxIntegral1>)
WENGERT_FAMILY(Polygamma, polygamma, Member<1, Trigamma>)
WENGERT_FAMILY(BesselI, bessel_i, Member<2, Unscaled<I2e>>)
WENGERT_FAMILY(BesselIeDerivative, bessel_ie_derivative, Member<1, BesselIeDerivative1>, Member<2, BesselIeDerivative2>)
WENGERT_FAMILY(SphericalBessel, spherical_bessel, Member<0, SphericalBessel0>, Member<1, SphericalBessel1>)
WENGERT_FAMILY(BesselJ, bessel_j, Member<0, BesselJ0>, Member<1, BesselJ1>)
WENGERT_FAMILY(BesselY, bessel_y, Member<0, BesselY0>, Member<1, BesselY1>)
#undef WENGERT_FAMILY

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA

namespace forms = wengert::kernels::WENGERT_ISA;
namespace special = wengert::special;

#ifdef __AVX512F__
#define WENGERT_AVX512(...) __VA_ARGS__
#else
#define WENGERT_AVX512(...)
#endif

#define WENGERT_DEFINE1(T, name, ...) \
    T name(T) noexcept;               \
    T name(T x) noexcept { return __VA_ARGS__; }
#define WENGERT_DEFINE2(T, name, ...) \
    T name(T, T) noexcept;            \
    T name(T a, T b) noexcept { return __VA_ARGS__; }

#define WENGERT_ONE(T, name, Form, other) \
    WENGERT_DEFINE1(T, name, forms::one_element<forms::Form>(x, [](double x) { return special::other; }))
#define WENGERT_ALL(V, T, prefix, name, Form, other) \
    WENGERT_DEFINE1(V, WENGERT_JOIN(prefix, name),   \
                    forms::all_lanes<forms::Form, T>(x, [](double x) { return special::other; }))
#define WENGERT_FORM(name, ...)                                                                 \
    WENGERT_ONE(double, WENGERT_ISA_NAME(name), __VA_ARGS__)                                    \
    WENGERT_ONE(float, WENGERT_ISA_NAME(name##f), __VA_ARGS__)                                  \
    WENGERT_ALL(__m128d, double, _ZGVbN2v_, WENGERT_ISA_NAME(name), __VA_ARGS__)                \
    WENGERT_ALL(__m128, float, _ZGVbN4v_, WENGERT_ISA_NAME(name##f), __VA_ARGS__)               \
    WENGERT_ALL(__m256d, double, _ZGVdN4v_, WENGERT_ISA_NAME(name), __VA_ARGS__)                \
    WENGERT_ALL(__m256, float, _ZGVdN8v_, WENGERT_ISA_NAME(name##f), __VA_ARGS__)               \
    WENGERT_AVX512(WENGERT_ALL(__m512d, double, _ZGVeN8v_, WENGERT_ISA_NAME(name), __VA_ARGS__) \
                       WENGERT_ALL(__m512, float, _ZGVeN16v_, WENGERT_ISA_NAME(name##f), __VA_ARGS__))

#define WENGERT_ALL2(V, T, prefix, name, Form) WENGERT_DEFINE2(V, WENGERT_JOIN(prefix, name), forms::Form<T>::all(a, b))
#define WENGERT_FORM2(name, Form)                                                          \
    WENGERT_DEFINE2(double, WENGERT_ISA_NAME(name), forms::Form<double>::one(a, b))        \
    WENGERT_DEFINE2(float, WENGERT_ISA_NAME(name##f), forms::Form<float>::one(a, b))       \
    WENGERT_ALL2(__m128d, double, _ZGVbN2vv_, WENGERT_ISA_NAME(name), Form)                \
    WENGERT_ALL2(__m128, float, _ZGVbN4vv_, WENGERT_ISA_NAME(name##f), Form)               \
    WENGERT_ALL2(__m256d, double, _ZGVdN4vv_, WENGERT_ISA_NAME(name), Form)                \
    WENGERT_ALL2(__m256, float, _ZGVdN8vv_, WENGERT_ISA_NAME(name##f), Form)               \
    WENGERT_AVX512(WENGERT_ALL2(__m512d, double, _ZGVeN8vv_, WENGERT_ISA_NAME(name), Form) \
                       WENGERT_ALL2(__m512, float, _ZGVeN16vv_, WENGERT_ISA_NAME(name##f), Form))

extern "C" {

WENGERT_FORM(erfinv, Erfinv, erfinv(x))
WENGERT_FORM(ndtri, Ndtri, ndtri(x))
WENGERT_FORM(erfcx, Erfcx, erfcx(x))
WENGERT_FORM(log_ndtr, LogNdtr, log_ndtr(x))
WENGERT_FORM(lgamma, Lgamma, lgamma(x))
WENGERT_FORM(digamma, Digamma, digamma(x))
WENGERT_FORM(i0, Unscaled<forms::I0e>, i0(x))
WENGERT_FORM(i0e, I0e, i0e(x))
WENGERT_FORM(i1, Unscaled<forms::I1e>, i1(x))
WENGERT_FORM(i1e, I1e, i1e(x))
WENGERT_FORM(modified_bessel_k0, ModifiedK0, modified_bessel_k0(x))
WENGERT_FORM(modified_bessel_k1, ModifiedK1, modified_bessel_k1(x))
WENGERT_FORM(scaled_modified_bessel_k0, ScaledK0, scaled_modified_bessel_k0(x))
WENGERT_FORM(scaled_modified_bessel_k1, ScaledK1, scaled_modified_bessel_k1(x))
WENGERT_FORM2(erfcx_integral, ErfcxIntegral)
WENGERT_FORM2(polygamma, Polygamma)
WENGERT_FORM2(bessel_i, BesselI)
WENGERT_FORM2(bessel_ie_derivative, BesselIeDerivative)
WENGERT_FORM2(spherical_bessel, SphericalBessel)
WENGERT_FORM2(bessel_j, BesselJ)
WENGERT_FORM2(bessel_y, BesselY)
WENGERT_FORM2(chebyshev_polynomial_t, ChebyshevT)
WENGERT_FORM2(chebyshev_polynomial_u, ChebyshevU)
WENGERT_FORM2(chebyshev_polynomial_v, ChebyshevV)
WENGERT_FORM2(chebyshev_polynomial_w, ChebyshevW)
WENGERT_FORM2(legendre_polynomial_p, Legendre)
WENGERT_FORM2(hermite_polynomial_h, HermiteH)
WENGERT_FORM2(hermite_polynomial_he, HermiteHe)
WENGERT_FORM2(fmod, Fmod)

}  // extern "C"

#endif
