// Orthogonal polynomials by their three-term recurrences, https://dlmf.nist.gov/18.9, and the Chebyshev ones of high degree
// by their closed forms. Degrees are truncated to whole numbers; a negative one gives 0, one that would take a recurrence
// more than a million steps NaN.
#include <cmath>
#include <limits>

#include "backends/cpu/scalar/families.h"

namespace wengert::special {
namespace {

constexpr double kMostSteps = 1e6;
constexpr double kClosedForm = 64;  // from which degree on Chebyshev polynomials are computed at once

// p_(k+1) = slope(k) p_k - back(k) p_(k-1). A polynomial that has overflowed keeps no trace of the smaller one.
template <class Slope, class Back>
double recur(double degree, double first, double second, Slope slope, Back back) {
    if (degree < 0) return 0;
    if (!(degree <= kMostSteps)) return std::numeric_limits<double>::quiet_NaN();
    const int n = static_cast<int>(degree);
    if (n == 0) return first;
    double before = first, value = second;
    for (int k = 1; k < n; ++k) {
        double next = slope(k) * value;
        if (std::isfinite(next)) next -= back(k) * before;
        before = value;
        value = next;
    }
    return value;
}

enum class Kind { T, U, V, W };

// cos(n t), sin((n+1) t) / sin(t), cos((n+1/2) t) / cos(t/2) and sin((n+1/2) t) / sin(t/2) with x = cos(t).
double chebyshev(Kind kind, double x, double degree) {
    if (std::isnan(x)) return x;
    const double n = std::trunc(degree);
    const double second[] = {x, 2 * x, 2 * x - 1, 2 * x + 1};
    if (!(n >= kClosedForm))
        return recur(n, 1, second[static_cast<int>(kind)], [x](int) { return 2 * x; }, [](int) { return 1.0; });
    if (x < 0) {  // mirrored: V and W change places
        const Kind mirrored[] = {Kind::T, Kind::U, Kind::W, Kind::V};
        return (std::fmod(n, 2) == 0 ? 1 : -1) * chebyshev(mirrored[static_cast<int>(kind)], -x, n);
    }
    if (x == 1) return kind == Kind::U ? n + 1 : kind == Kind::W ? 2 * n + 1 : 1;
    if (x > 1) {
        const double t = std::acosh(x);
        if (kind == Kind::T) return std::cosh(n * t);
        if (kind == Kind::U) return std::sinh((n + 1) * t) / std::sinh(t);
        return kind == Kind::V ? std::cosh((n + 0.5) * t) / std::cosh(t / 2)
                               : std::sinh((n + 0.5) * t) / std::sinh(t / 2);
    }
    const double t = std::acos(x);
    if (kind == Kind::T) return std::cos(n * t);
    if (kind == Kind::U) return std::sin((n + 1) * t) / std::sin(t);
    return kind == Kind::V ? std::cos((n + 0.5) * t) / std::cos(t / 2) : std::sin((n + 0.5) * t) / std::sin(t / 2);
}

}  // namespace

double chebyshev_polynomial_t(double x, double n) noexcept { return chebyshev(Kind::T, x, n); }
double chebyshev_polynomial_u(double x, double n) noexcept { return chebyshev(Kind::U, x, n); }
double chebyshev_polynomial_v(double x, double n) noexcept { return chebyshev(Kind::V, x, n); }
double chebyshev_polynomial_w(double x, double n) noexcept { return chebyshev(Kind::W, x, n); }

double gegenbauer(double order, double x, double n) noexcept {
    if (std::isnan(x)) return x;
    return recur(
        std::trunc(n), 1, 2 * order * x, [=](int k) { return 2 * (k + order) * x / (k + 1); },
        [=](int k) { return (k + 2 * order - 1) / (k + 1); });
}
double legendre_polynomial_p(double x, double n) noexcept { return gegenbauer(0.5, x, n); }

double laguerre(double order, double x, double n) noexcept {
    if (std::isnan(x)) return x;
    return recur(
        std::trunc(n), 1, 1 + order - x, [=](int k) { return (2 * k + 1 + order - x) / (k + 1); },
        [=](int k) { return (k + order) / (k + 1); });
}

double hermite_polynomial_h(double x, double n) noexcept {
    if (std::isnan(x)) return x;
    return recur(std::trunc(n), 1, 2 * x, [=](int) { return 2 * x; }, [](int k) { return 2.0 * k; });
}
double hermite_polynomial_he(double x, double n) noexcept {
    if (std::isnan(x)) return x;
    return recur(std::trunc(n), 1, x, [=](int) { return x; }, [](int k) { return 1.0 * k; });
}

}  // namespace wengert::special
