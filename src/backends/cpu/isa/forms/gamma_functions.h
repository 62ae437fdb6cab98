// Vector forms of log |gamma| and its derivatives (backends/cpu/isa/vector_forms.cpp).
#pragma once

#include "backends/cpu/isa/forms/gamma_functions_series.h"
#include "backends/cpu/isa/forms/series.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

using namespace wengert::scalar;

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

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
