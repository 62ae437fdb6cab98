// Bessel functions of integer order, and repeated integrals of erfc. Three-term recurrences: run in the direction in which
// the wanted solution grows. Where it would shrink, the quotients of neighbours are computed from far above instead, as a
// continued fraction (https://dlmf.nist.gov/3.6); they are all of one sign, so nothing cancels.
#include <cmath>
#include <limits>
#include <numbers>

#include "backends/cpu/scalar/families.h"
#include "backends/cpu/scalar/special.h"

namespace wengert::special {

namespace {
// Orders beyond these take a recurrence too many steps; no double distinguishes the functions there from their limits.
constexpr double kMostSteps = 1e6;

// x^n / (2n+1)!! * (1 - x^2/2 / (1! (2n+3)) + ...)
template <class T>
T spherical_bessel_series(int n, T x) {
    T power = 1, term = 1, sum = 1;
    for (int k = 1; k <= n; ++k) power *= x / (2.0 * k + 1);
    for (int k = 1; k < 60 && std::abs(term) > 1e-18 * std::abs(sum); ++k)
        sum += term *= -0.5 * x * x / (k * (2.0 * (n + k) + 1));
    return power * sum;
}
// j_n / j_(n-1) by backward recurrence; far above max(n, x) the ratio is that of the leading terms.
template <class T>
T spherical_bessel_downward(int n, T x) {
    const int top = 2 * n + 40 + static_cast<int>(1.5 * std::abs(x));
    T above = 0, here = 1e-300, wanted = 0, first = 0, zeroth = 0;
    for (int k = top; k >= 0; --k) {
        if (k == n) wanted = here;
        if (k == 1) first = here;
        if (k == 0) zeroth = here;
        T below = (2.0 * k + 1) / x * here - above;
        above = here;
        here = below;
        if (std::abs(here) > 1e200) here *= 1e-200, above *= 1e-200, wanted *= 1e-200, first *= 1e-200;
    }
    T j0 = std::sin(x) / x, j1 = (j0 - std::cos(x)) / x;
    return std::abs(j0) > std::abs(j1) ? wanted * (j0 / zeroth) : wanted * (j1 / first);
}
}  // namespace

double spherical_bessel(double order, double x) noexcept {
    if (order > kMostSteps) return std::abs(x) < order ? 0 : std::numeric_limits<double>::quiet_NaN();
    const int n = static_cast<int>(order);
    if (n < 0) return 0;
    if (std::isnan(x)) return x;
    if (std::isinf(x)) return 0;
    const double sign = x < 0 && n % 2 != 0 ? -1 : 1;
    x = std::abs(x);
    if (x * x < 2.0 * n + 3) return sign * spherical_bessel_series(n, x);
    if (x < n) return sign * spherical_bessel_downward(n, x);
    double before = std::cos(x) / x, value = std::sin(x) / x;
    for (int k = 0; k < n; ++k) {
        double next = (2 * k + 1) * (value / x) - before;
        before = value;
        value = next;
    }
    return sign * value;
}

// The downward recurrence holds everywhere; upwards j grows along the imaginary axis no faster than other solutions.
std::complex<double> spherical_bessel(double order, std::complex<double> z) noexcept {
    if (order > kMostSteps || std::abs(z) > kMostSteps) return std::numeric_limits<double>::quiet_NaN();
    const int n = static_cast<int>(order);
    if (n < 0) return 0;
    if (n == 0 && std::norm(z) >= 3) return std::sin(z) / z;
    return std::norm(z) < 2.0 * n + 3 ? spherical_bessel_series(n, z) : spherical_bessel_downward(n, z);
}

double bessel_i(double order, double x) noexcept {
    if (std::abs(order) > kMostSteps) return std::isfinite(x) ? 0 : x;
    const int n = static_cast<int>(std::abs(order));
    if (std::isnan(x)) return x;
    const double sign = x < 0 && n % 2 != 0 ? -1 : 1;
    x = std::abs(x);
    double value = i0(x);
    if (n == 0 || std::isinf(value)) return sign * value;
    double ratio = 0;  // I_k / I_(k-1)
    for (int k = n + 30 + static_cast<int>(1.5 * x); k > n; --k) ratio = 1 / (2 * k / x + ratio);
    for (int k = n; k > 0; --k) {
        ratio = 1 / (2 * k / x + ratio);
        value *= ratio;
    }
    return sign * value;
}

// (1/pi) times the integral over the half circle of (cos t - 1)^n exp(x (cos t - 1)): Kummer's function, whose series has
// positive terms for argument 2x; for a large argument its asymptotic series.
double bessel_ie_derivative(double order, double x) noexcept {
    if (order > kMostSteps) return std::numeric_limits<double>::quiet_NaN();
    const int n = static_cast<int>(order);
    if (std::isnan(x)) return x;
    double factor = 1, term = 1, sum = 1;
    for (int k = 1; k <= n; ++k) factor *= -(2.0 * k - 1) / k;
    const double z = 2 * x;
    if (z < 60) {
        for (int k = 0; term > 1e-18 * sum && k < 1000; ++k) sum += term *= (k + 0.5) / ((k + n + 1.0) * (k + 1)) * z;
        return factor * std::exp(-z) * sum;
    }
    for (int k = 1; k <= n; ++k) factor *= k;
    for (int k = 1; k < 30 && term > 1e-18 * sum; ++k) sum += term *= (n + k - 0.5) * (k - 0.5) / (k * z);
    return factor * std::pow(z, -n - 0.5) / std::sqrt(std::numbers::pi) * sum;
}

// F(k) = exp(x^2) i^k erfc(x) with F(-1) = 2/sqrt(pi) satisfies 2 (k+1) F(k+1) = F(k-1) - 2x F(k).
double erfcx_integral(double order, double x) noexcept {
    if (order > kMostSteps) return x < 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
    const int n = static_cast<int>(order);
    constexpr double start = 2 * std::numbers::inv_sqrtpi;
    if (std::isnan(x)) return x;
    if (x < 0.5) {
        double before = start, value = erfcx(x);
        for (int k = 0; k < n; ++k) {
            double next = (before - 2 * x * value) / (2 * (k + 1));
            before = value;
            value = next;
        }
        return value;
    }
    double ratio = 0, value = start;  // F(k) / F(k-1)
    for (int k = n + 10 + static_cast<int>(200 / (x * x)); k > n; --k) ratio = 1 / (2 * x + 2 * (k + 1) * ratio);
    for (int k = n; k >= 0; --k) {
        ratio = 1 / (2 * x + 2 * (k + 1) * ratio);
        value *= ratio;
    }
    return value;
}

}  // namespace wengert::special
