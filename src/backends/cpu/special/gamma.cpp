// The gamma function's logarithm and its derivatives.
//
// Digamma and trigamma: the recurrence raises the argument until the asymptotic series in 1/x^2 is exact to the last bit,
// reflection serves negative arguments. Higher orders are Hurwitz zeta functions, summed by Euler and Maclaurin's formula.
#include <cmath>
#include <limits>

#include "backends/cpu/scalar/special.h"

namespace wengert::special {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLarge = 10;  // where the asymptotic series below start

// Coefficients of the Taylor series of digamma at its positive root, from the first order on: close to the root the
// general formula cancels.
constexpr double kRootSeries[] = {
    9.6767224544762117043e-1, -4.4276316898359210609e-1, 2.5849976095565101062e-1, -1.639427054424065275e-1,
    1.0782405069126236576e-1, -7.2199561256454710926e-2, 4.8804288164143107225e-2, -3.3161126474847359292e-2,
    2.259764823221810466e-2,  -1.5424765904948959139e-2, 1.0538791616612175388e-2, -7.204534386356868241e-3,
    4.9267813957298534464e-3, -3.3698016554393280828e-3, 2.3051263267349278369e-3, -1.5769367714301972593e-3,
    1.0788252019162965807e-3, -7.3807093899600512957e-4, 5.0495326583460203518e-4, -3.4546802510630769956e-4,
    2.3635601564027052792e-4,
};
constexpr double kRoot = 1.4616321449683622458, kRootRest = 9.5499954299656977152e-17;

double horner(const double* c, int n, double x) {
    double sum = 0;
    for (int k = n; k-- > 0;) sum = sum * x + c[k];
    return sum;
}

double digamma_positive(double x) {
    double from_root = (x - kRoot) - kRootRest;
    if (std::fabs(from_root) < 0.2) return from_root * horner(kRootSeries, 21, from_root);
    double below = 0;
    for (; x < kLarge; ++x) below += 1 / x;
    // B_2k / 2k
    static constexpr double c[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                   1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
    double y = 1 / (x * x);
    return std::log(x) - 0.5 / x - y * horner(c, 8, y) - below;
}

double trigamma_positive(double x) {
    double below = 0;
    for (; x < kLarge; ++x) below += 1 / (x * x);
    // B_2k
    static constexpr double c[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
    double y = 1 / (x * x);
    return below + 1 / x + y / 2 + y / x * horner(c, 8, y);
}

// Sum over k >= 0 of (q / (q + k))^s for q > 0, s > 1: zeta(s, q) without the factor q^-s, which under- and overflows.
// Its terms fall at least as fast as exp(-s k / (q + k)), so that few of them count, however large s is.
double scaled_zeta(double s, double q) {
    double sum = 0, k = 0;
    double enough = std::fmax(kLarge, s + 8);  // the twelve terms below then reach the last bit
    for (; q + k < enough; ++k) {
        double term = std::exp(-s * std::log1p(k / q));
        sum += term;
        if (term < 1e-17 * sum) return sum;
    }
    double tail = std::exp(-s * std::log1p(k / q));
    q += k;
    sum += tail * q / (s - 1) + tail / 2;
    // B_2k / (2k)! times s (s + 1) ... (s + 2k - 2) q^(-s - 2k + 1)
    static constexpr double c[] = {8.3333333333333333333e-2,  -1.3888888888888888889e-3,  3.3068783068783068783e-5,
                                   -8.2671957671957671958e-7, 2.0876756987868098979e-8,   -5.2841901386874931848e-10,
                                   1.3382536530684678833e-11, -3.3896802963225828668e-13, 8.5860620562778445641e-15,
                                   -2.174868698558061873e-16, 5.5090028583602295152e-18,  -1.3954464685812523341e-19};
    double factor = s * tail / q;
    for (int i = 0; i < 12; ++i) {
        double term = c[i] * factor;
        sum += term;
        if (std::fabs(term) < 1e-17 * sum) break;
        factor *= (s + 2 * i + 1) * (s + 2 * i + 2) / (q * q);
    }
    return sum;
}

double log_zeta(double s, double q) { return std::log(scaled_zeta(s, q)) - s * std::log(q); }

double zeta_positive(double s, double q) {
    const double first = std::pow(q, -s);
    return std::isnormal(first) ? first * scaled_zeta(s, q) : std::exp(log_zeta(s, q));
}

// n! zeta(n + 1, x) where one of the factors leaves the range of numbers though their product may not. x is not 0, -1...
double factorial_times_zeta(double n, double x) {
    const double s = n + 1, log_factorial = lgamma(s);
    if (x > 0) return std::exp(log_factorial + log_zeta(s, x));
    // As in zeta(), all divided by the greatest term: d^-s.
    const double part = x - std::floor(x), sign = std::fmod(s, 2) == 0 ? 1 : -1, d = std::fmin(part, 1 - part);
    if (sign < 0 && part == 0.5) return std::exp(log_factorial + log_zeta(s, 1 - x));  // the other terms cancel
    auto divided = [=](double q) { return std::exp(s * std::log(d / q)) * scaled_zeta(s, q); };
    const double z = divided(part) + sign * (divided(1 - part) - divided(1 - x));
    return std::copysign(std::exp(log_factorial - s * std::log(d) + std::log(std::fabs(z))), z);
}

}  // namespace

double lgamma(double x) noexcept {
    int sign;
    return ::lgamma_r(x, &sign);  // lgamma writes a global variable
}

double digamma(double x) noexcept {
    if (x > 0) return digamma_positive(x);
    if (x == 0) return std::copysign(kInf, -x);
    if (std::isinf(x) || x == std::floor(x)) return kNan;
    double part = x - std::round(x);  // cot(pi x) has period 1
    return digamma_positive(1 - x) - kPi / std::tan(kPi * part);
}

double trigamma(double x) noexcept {
    if (std::isinf(x)) return x > 0 ? 0 : kNan;
    if (x > 0) return trigamma_positive(x);
    if (x == std::floor(x)) return kInf;
    double sine = std::sin(kPi * (x - std::round(x)));
    return kPi * kPi / (sine * sine) - trigamma_positive(1 - x);
}

double zeta(double s, double q) noexcept {
    if (std::isnan(s) || std::isnan(q)) return s + q;
    if (s == 1) return kInf;
    if (s < 1) return kNan;
    if (std::isinf(s)) return q == 1 ? 1 : q > 1 ? 0 : kInf;
    if (q > 0) return std::isinf(q) ? 0 : zeta_positive(s, q);
    if (q == std::floor(q)) return kInf;
    if (s != std::floor(s) || std::isinf(q)) return kNan;
    // The points q + k are `part` + j above zero and, below it, 1 - part + j up to -q.
    double part = q - std::floor(q);
    double sign = std::fmod(s, 2) == 0 ? 1 : -1;
    return zeta_positive(s, part) + sign * (zeta_positive(s, 1 - part) - zeta_positive(s, 1 - q));
}

double polygamma(double n, double x) noexcept {
    if (n == 0) return digamma(x);
    if (n == 1) return trigamma(x);
    if (!(n > 0) || n != std::floor(n)) return kNan;
    double sign = std::fmod(n, 2) == 0 ? -1 : 1;
    const double z = zeta(n + 1, x);
    if (n < 150 && std::isnormal(z)) return sign * std::tgamma(n + 1) * z;
    return x == 0 || std::isnan(x) || std::isinf(x) || (x < 0 && x == std::floor(x))
               ? sign * z
               : sign * factorial_times_zeta(n, x);
}

}  // namespace wengert::special
