// The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x).
//
// The series of P converges where x < a + 1, the continued fraction of Q beyond; small a and x, where Q is the small
// difference of 1 and P, have a series of their own. Both need about sqrt(a) terms near x = a, so large a uses Temme's
// uniform expansion (DLMF 8.12). Sums end when what follows is below `epsilon` of them: in float, terms enough for float.
#include <cmath>
#include <limits>

#include "backends/cpu/scalar/special.h"

namespace wengert::special {
namespace {

template <class T>
constexpr double kEpsilon = std::numeric_limits<T>::epsilon() / 4;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr int kMaxTerms = 5000;

// log(1 + u) - u for u = x / a - 1, which is -u^2 / 2 + ... near zero.
double log1p_minus(double a, double x) {
    double u = (x - a) / a;
    if (std::fabs(u) > 0.4) return std::log(x / a) - u;
    double t = u / (2 + u), square = t * t, power = t * square, sum = 0;
    for (int k = 3; k < 60; k += 2) {
        sum += power / k;
        power *= square;
        if (std::fabs(power) < kEpsilon<double> * std::fabs(sum)) break;
    }
    return 2 * sum - u * t;
}

// log Gamma(1 + a), exact to the last bits near a = 0.
double lgamma_1p(double a) {
    if (std::fabs(a) > 0.05) return lgamma(1 + a);
    static constexpr double c[] = {-0.57721566490153286061,   8.2246703342411321824e-1,  -4.0068563438653142847e-1,
                                   2.7058080842778454788e-1,  -2.0738555102867398527e-1, 1.6955717699740818995e-1,
                                   -1.4404989676884611812e-1, 1.2550966952474304242e-1,  -1.1133426586956469049e-1,
                                   1.0009945751278180853e-1,  -9.0954017145829042233e-2, 8.3353840546109004025e-2,
                                   -7.6932516411352191473e-2};
    double sum = 0;
    for (int k = 13; k-- > 0;) sum = sum * a + c[k];
    return sum * a;
}

// x^a exp(-x) / Gamma(a)
double prefactor(double a, double x) {
    if (a < 10) return a * std::exp(a * std::log(x) - x - lgamma_1p(a));
    // By Stirling's series, so that the large logarithms cancel before they are rounded.
    double y = 1 / (a * a);
    double rest =
        (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * 691.0 / 360360))))) / a;
    return std::sqrt(a / (2 * kPi)) * std::exp(a * log1p_minus(a, x) - rest);
}

double lower_series(double a, double x, double epsilon) {
    double term = 1, sum = 1;
    for (int n = 1; n < kMaxTerms; ++n) {
        term *= x / (a + n);
        sum += term;
        if (term < epsilon * sum) break;
    }
    return prefactor(a, x) / a * sum;
}

// Q by its series at small x: 1 - x^a / Gamma(1 + a) * (1 + a sum of (-x)^n / (n! (a + n))).
double upper_series(double a, double x, double epsilon) {
    double term = 1, sum = 0;
    for (int n = 1; n < kMaxTerms; ++n) {
        term *= -x / n;
        sum += term / (a + n);
        if (std::fabs(term) < epsilon * std::fabs(sum)) break;
    }
    double log_scale = a * std::log(x) - lgamma_1p(a);
    return -std::expm1(log_scale) - std::exp(log_scale) * a * sum;
}

// Lentz's evaluation of 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)).
double upper_fraction(double a, double x, double epsilon) {
    constexpr double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, fraction = d;
    for (int n = 1; n < kMaxTerms; ++n) {
        double numerator = -n * (n - a);
        b += 2;
        d = numerator * d + b;
        d = 1 / (std::fabs(d) < tiny ? tiny : d);
        c = b + numerator / c;
        if (std::fabs(c) < tiny) c = tiny;
        fraction *= d * c;
        if (std::fabs(d * c - 1) < 2 * epsilon) break;
    }
    return prefactor(a, x) * fraction;
}

// Coefficients of Temme's functions c_0, c_1, c_2 as power series in eta.
constexpr double kTemme0[] = {
    -3.3333333333333333333e-1, 8.3333333333333333333e-2, -1.4814814814814814815e-2, 1.1574074074074074074e-3,
    3.5273368606701940035e-4,  -1.787551440329218107e-4, 3.9192631785224377817e-5,  -2.1854485106799921615e-6,
    -1.8540622107151599607e-6, 8.296711340953086005e-7,  -1.7665952736826079304e-7, 6.7078535434014985804e-9,
};
constexpr double kTemme1[] = {
    -1.8518518518518518519e-3, -3.4722222222222222222e-3, 2.6455026455026455026e-3,  -9.9022633744855967078e-4,
    2.0576131687242798354e-4,  -4.0187757201646090535e-7, -1.8098550334489977837e-5, 7.6491609160811100846e-6,
};
constexpr double kTemme2[] = {
    4.1335978835978835979e-3, -2.6813271604938271605e-3, 7.7160493827160493827e-4,
    2.0093878600823045267e-6, -1.0736653226365160522e-4,
};

double horner(const double* c, int n, double x) {
    double sum = 0;
    for (int k = n; k-- > 0;) sum = sum * x + c[k];
    return sum;
}

bool is_uniform(double a, double x) { return a > 2e4 && std::fabs(x - a) < 0.1 * a; }

double uniform(double a, double x, bool upper) {
    double eta = std::copysign(std::sqrt(-2 * log1p_minus(a, x)), x - a);
    double sum = horner(kTemme0, 12, eta) + (horner(kTemme1, 8, eta) + horner(kTemme2, 5, eta) / a) / a;
    double correction = std::exp(-a * eta * eta / 2) / std::sqrt(2 * kPi * a) * sum;
    double z = eta * std::sqrt(a / 2);
    return upper ? std::erfc(z) / 2 + correction : std::erfc(-z) / 2 - correction;
}

double lower(double a, double x, double epsilon) {
    if (!(a >= 0) || !(x >= 0)) return kNan;
    if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
    if (a == 0) return x > 0 ? 1 : kNan;
    if (x == 0) return 0;
    if (std::isinf(x)) return 1;
    if (is_uniform(a, x)) return uniform(a, x, false);
    if (x < a + 1) return lower_series(a, x, epsilon);
    return 1 - upper_fraction(a, x, epsilon);
}

double upper(double a, double x, double epsilon) {
    if (!(a >= 0) || !(x >= 0)) return kNan;
    if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
    if (a == 0) return x > 0 ? 0 : kNan;
    if (x == 0) return 1;
    if (std::isinf(x)) return 0;
    if (is_uniform(a, x)) return uniform(a, x, true);
    if (x >= a + 1 && x >= 1.5) return upper_fraction(a, x, epsilon);
    if (a < 1 && x < 1.5) return upper_series(a, x, epsilon);
    return 1 - lower_series(a, x, epsilon);
}

}  // namespace

double igamma(double a, double x) noexcept { return lower(a, x, kEpsilon<double>); }
float igamma(float a, float x) noexcept { return static_cast<float>(lower(a, x, kEpsilon<float>)); }
double igammac(double a, double x) noexcept { return upper(a, x, kEpsilon<double>); }
float igammac(float a, float x) noexcept { return static_cast<float>(upper(a, x, kEpsilon<float>)); }

}  // namespace wengert::special
