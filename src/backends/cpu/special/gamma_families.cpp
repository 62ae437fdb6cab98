// Derivatives of incomplete gamma functions and of zeta with respect to their parameter; NaN for an order above kMostOrder,
// where the factorials that all of them contain have left the numbers.
#include <array>
#include <cmath>
#include <limits>

#include "backends/cpu/scalar/families.h"
#include "backends/cpu/scalar/special.h"

namespace wengert::special {

namespace {

constexpr int kMostOrder = 170;
using Series = std::array<double, kMostOrder + 1>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The n-th derivative, in a, of exp(h(a)) from exp(h), h', h'', ...: (exp h)^(m+1) is the sum of C(m, j) h^(j+1) (exp h)^(m-j).
double derivative_of_exp(int n, double value, const Series& slopes) {
    Series f;
    f[0] = value;
    for (int m = 0; m < n; ++m) {
        double sum = 0, binomial = 1;
        for (int j = 0; j <= m; ++j) {
            sum += binomial * slopes[j] * f[m - j];
            binomial = binomial * (m - j) / (j + 1);
        }
        f[m + 1] = sum;
    }
    return f[n];
}

// The density as a function of x, with what depends on the shape alone computed once.
struct Density {
    Density(int n, double a) : n(n), a(a), log_gamma(lgamma(a)) {
        for (int k = 0; k < n; ++k) slopes[k] = -polygamma(k, a);
        psi = n > 0 ? -slopes[0] : 0;
    }
    double operator()(double x) {
        const double log_x = std::log(x);
        if (n > 0) slopes[0] = log_x - psi;
        return derivative_of_exp(n, std::exp((a - 1) * log_x - x - log_gamma), slopes);
    }
    int n;
    double a, log_gamma, psi;
    Series slopes;  // the first n
};

}  // namespace

double gamma_density(double order, double a, double x) noexcept {
    if (order < 0) return 0;
    if (!(order <= kMostOrder)) return kNaN;
    const int n = static_cast<int>(order);
    if (std::isnan(a) || std::isnan(x) || a <= 0 || x < 0) return kNaN;
    if (std::isinf(x) || (x == 0 && a > 1)) return 0;
    return Density(n, a)(x);
}

double igamma_d_order(double order, double a, double x) noexcept {
    if (order < 0) return 0;
    if (!(order <= kMostOrder)) return kNaN;
    const int n = static_cast<int>(order);
    if (n == 0) return igamma(a, x);
    if (std::isnan(a) || std::isnan(x) || a <= 0 || x < 0) return kNaN;
    if (x == 0 || std::isinf(x)) return 0;
    double sum = 0;
    if (x < a + 1) {  // P(a, x) is the sum of the densities with shapes a + 1, a + 2, ...
        for (int k = 1; k < 2000; ++k) {
            double term = Density(n, a + k)(x);
            sum += term;
            if (k > x && std::abs(term) < 1e-18 * std::abs(sum)) break;
        }
        return sum;
    }
    // Beyond it the derivative of -Q(a, x), an integral of one sign: t = x + exp(u - exp(-u)), by the trapezoidal rule.
    Density density(n, a);
    constexpr double step = 1.0 / 32;
    for (int i = -5 * 32; i <= 8 * 32; ++i) {
        double u = i * step, s = std::exp(u - std::exp(-u));
        sum += density(x + s) * s * (1 + std::exp(-u));
    }
    return -sum * step;
}

// Euler and Maclaurin's formula, every term of it a Taylor series in s cut after order n.
double zeta_d_order(double order, double s, double q) noexcept {
    if (order < 0) return 0;
    if (!(order <= kMostOrder)) return kNaN;
    const int n = static_cast<int>(order);
    if (n == 0) return zeta(s, q);
    if (std::isnan(s) || std::isnan(q) || s <= 1 || q <= 0) return kNaN;
    auto power = [&](double base) {  // base^-s
        const double log_base = std::log(base);
        Series c;
        c[0] = std::pow(base, -s);
        for (int k = 1; k <= n; ++k) c[k] = c[k - 1] * -log_base / k;
        return c;
    };
    auto add = [&](Series& to, const Series& c, double factor) {
        for (int k = 0; k <= n; ++k) to[k] += factor * c[k];
    };
    auto times_linear = [&](Series& c, double constant) {  // c * (constant + h)
        for (int k = n; k > 0; --k) c[k] = constant * c[k] + c[k - 1];
        c[0] *= constant;
    };
    constexpr int terms = 14;
    Series sum{};
    for (int k = 0; k < terms; ++k) add(sum, power(q + k), 1);
    const double far = q + terms;
    Series tail = power(far), quotient = tail;
    add(sum, tail, 0.5);
    for (int k = 0; k <= n; ++k)
        quotient[k] = (quotient[k] - (k > 0 ? quotient[k - 1] : 0)) / (s - 1);  // divided by s - 1 + h
    add(sum, quotient, far);
    constexpr double bernoulli_over_factorial[] = {1.0 / 12,          -1.0 / 720,
                                                   1.0 / 30240,       -1.0 / 1209600,
                                                   1.0 / 47900160,    -691.0 / 1307674368000,
                                                   1.0 / 74724249600, -3617.0 / 10670622842880000};
    double scale = 1 / far;
    times_linear(tail, s);
    for (int j = 0; j < 8; ++j) {
        add(sum, tail, bernoulli_over_factorial[j] * scale);
        times_linear(tail, s + 2 * j + 1);
        times_linear(tail, s + 2 * j + 2);
        scale /= far * far;
    }
    double factorial = 1;
    for (int k = 2; k <= n; ++k) factorial *= k;
    return sum[n] * factorial;
}

}  // namespace wengert::special
