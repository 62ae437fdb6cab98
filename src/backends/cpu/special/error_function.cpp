// Relatives of the error function: its inverse, its scaled form, and the normal distribution.
//
// The inverses start from a closed formula good to three digits and refine it by Halley's method, which triples the digits,
// on the C library's erf or erfc, whichever is small there.
#include <cmath>
#include <limits>

#include "backends/cpu/scalar/activation.h"
#include "backends/cpu/scalar/special.h"

namespace wengert::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
constexpr double kSqrt2 = 1.41421356237309504880;

// Winitzki's approximation of erfinv, given log(1 - y^2).
double first_guess(double log_1my2) {
    constexpr double a = 0.147;
    double b = 2 / (kPi * a) + log_1my2 / 2;
    return std::sqrt(std::sqrt(b * b - log_1my2 / a) - b);
}

// One step of Halley's method, given the residual f / f' (f'' / f' = -2 x).
double refined(double x, double newton) { return x - newton / (1 + x * newton); }

// The x >= 0 with erfc(x) = q, 0 < q <= 1/2.
double erfc_inverse(double q) {
    if (q < 1e-280) {
        // erfc itself runs out of digits: solve log erfcx(x) - x^2 = log q.
        double target = std::log(q), x = std::sqrt(-target);
        for (int i = 0; i < 6; ++i) {
            double scaled = erfcx(x);
            x += (std::log(scaled) - x * x - target) * scaled / kTwoOverSqrtPi;
        }
        return x;
    }
    double x = first_guess(std::log(q) + std::log(2 - q));
    for (int i = 0; i < 3; ++i) x = refined(x, (std::erfc(x) - q) / (-kTwoOverSqrtPi * std::exp(-x * x)));
    return x;
}

// The x with erf(x) = y, |y| <= 1/2.
double erf_inverse(double y) {
    if (std::fabs(y) < 1e-9) return y / kTwoOverSqrtPi;
    double x = std::copysign(first_guess(std::log1p(-y * y)), y);
    for (int i = 0; i < 2; ++i) x = refined(x, (std::erf(x) - y) / (kTwoOverSqrtPi * std::exp(-x * x)));
    return x;
}

}  // namespace

double erfinv(double y) noexcept {
    double size = std::fabs(y);
    if (!(size <= 1)) return kNan;
    if (size == 1) return std::copysign(kInf, y);
    if (size <= 0.5) return erf_inverse(y);
    return std::copysign(erfc_inverse(1 - size), y);  // 1 - size is exact
}

double erfcx(double x) noexcept {
    if (x < -26.7) return kInf;
    if (x < 10) {
        // exp(x^2) of the rounded square is off by the rounding: fma has the rest.
        double square = x * x, rest = std::fma(x, x, -square);
        return std::exp(square) * (1 + rest) * std::erfc(x);
    }
    if (x > 1e8) return 1 / x * (kTwoOverSqrtPi / 2);
    // Asymptotic series in 1 / (2 x^2); the terms shrink until the (x^2)th.
    double y = 0.5 / (x * x), term = 1, sum = 1;
    for (int k = 1; k < 40; ++k) {
        term *= -(2 * k - 1) * y;
        sum += term;
        if (std::fabs(term) < 1e-18) break;
    }
    return kTwoOverSqrtPi / 2 / x * sum;
}

double ndtri(double p) noexcept {
    if (!(p >= 0 && p <= 1)) return kNan;
    if (p == 0) return -kInf;
    if (p == 1) return kInf;
    if (p < 0.25) return -kSqrt2 * erfc_inverse(2 * p);
    if (p > 0.75) return kSqrt2 * erfc_inverse(2 * (1 - p));
    return kSqrt2 * erf_inverse(2 * p - 1);  // exact, by Sterbenz
}

double log_ndtr(double x) noexcept {
    if (x < -1) return std::log(erfcx(-x / kSqrt2) / 2) - x * x / 2;
    return std::log1p(-scalar::ndtr(-x));
}

}  // namespace wengert::special
