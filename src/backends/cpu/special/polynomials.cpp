// Orthogonal polynomials by their recurrences (backends/cpu/scalar/recurrences.h), and the Chebyshev ones of high degree by
// their closed forms. Degrees are truncated to whole numbers; a negative one gives 0, one that would take a recurrence
// more than a million steps NaN.
#include <cmath>
#include <limits>

#include "backends/cpu/scalar/families.h"
#include "backends/cpu/scalar/recurrences.h"

namespace wengert::special {
namespace {

// A polynomial that has overflowed keeps no trace of the smaller one.
template <class Polynomial>
double recur(const Polynomial& p, double x, double degree) {
    if (std::isnan(x)) return x;
    const double whole = std::trunc(degree);
    if (whole < 0) return 0;
    if (!(whole <= Polynomial::kMost)) return std::numeric_limits<double>::quiet_NaN();
    const int n = static_cast<int>(whole);
    if (n == 0) return 1;
    double before = 1, value = p.second(x);
    for (int k = 1; k < n; ++k) {
        double next = p.slope(k, x) * value;
        if (std::isfinite(next)) next -= p.back(k) * before;
        before = value;
        value = next;
    }
    return value;
}

enum class Kind { T, U, V, W };

// cos(n t), sin((n+1) t) / sin(t), cos((n+1/2) t) / cos(t/2) and sin((n+1/2) t) / sin(t/2) with x = cos(t).
double closed_form(Kind kind, double x, double n) {
    if (x < 0) {  // mirrored: V and W change places
        const Kind mirrored[] = {Kind::T, Kind::U, Kind::W, Kind::V};
        return (std::fmod(n, 2) == 0 ? 1 : -1) * closed_form(mirrored[static_cast<int>(kind)], -x, n);
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

template <class Polynomial>
double chebyshev(Kind kind, double x, double degree) {
    if (std::isnan(x)) return x;
    const double n = std::trunc(degree);
    return n > Polynomial::kMost ? closed_form(kind, x, n) : recur(Polynomial(), x, n);
}

}  // namespace

double chebyshev_polynomial_t(double x, double n) noexcept { return chebyshev<ChebyshevT>(Kind::T, x, n); }
double chebyshev_polynomial_u(double x, double n) noexcept { return chebyshev<ChebyshevU>(Kind::U, x, n); }
double chebyshev_polynomial_v(double x, double n) noexcept { return chebyshev<ChebyshevV>(Kind::V, x, n); }
double chebyshev_polynomial_w(double x, double n) noexcept { return chebyshev<ChebyshevW>(Kind::W, x, n); }

double gegenbauer(double order, double x, double n) noexcept { return recur(Gegenbauer(order), x, n); }
double laguerre(double order, double x, double n) noexcept { return recur(Laguerre(order), x, n); }
double legendre_polynomial_p(double x, double n) noexcept { return recur(Legendre(), x, n); }
double hermite_polynomial_h(double x, double n) noexcept { return recur(HermiteH(), x, n); }
double hermite_polynomial_he(double x, double n) noexcept { return recur(HermiteHe(), x, n); }

}  // namespace wengert::special
