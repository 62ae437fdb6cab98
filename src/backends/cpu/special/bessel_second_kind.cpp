// Bessel functions of integer order: of the first and second kind, which the C library has, and modified ones of the
// second kind (https://dlmf.nist.gov/10.25): the power series on (0, 1], beyond it a Chebyshev expansion of
// sqrt(x) exp(x) K(x) in 2/x - 1, whose coefficients were computed in 60 digits.
#include <math.h>  // jn and yn are POSIX's, not C++'s

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

#include "backends/cpu/scalar/families.h"
#include "backends/cpu/scalar/special.h"

namespace wengert::special {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
constexpr double kMostSteps = 1e6;  // recurrences take a step for each order

constexpr double kK0Far[] = {
    1.1944330762167386224,     -5.3855323307629491719e-2,  4.3620000682517013051e-3,  -5.5212703498632345946e-4,
    8.9595655557559522138e-5,  -1.7138726856421185726e-5,  3.6951460890454717194e-6,  -8.7372845189805244654e-7,
    2.2250462722552358949e-7,  -6.0252167563760650054e-8,  1.7186668629418082932e-8,  -5.1272057810909208321e-9,
    1.5907351467912106971e-9,  -5.1095832579141894552e-10, 1.6929517419961086281e-10, -5.7683063818637604514e-11,
    2.0159542597761384528e-11, -7.2109400653464952634e-12, 2.6349075982806446188e-12, -9.8195768917592966181e-13,
    3.7269581878457700703e-13, -1.4388149744180521726e-13, 5.6436532735816867254e-14, -2.2469288334596895127e-14,
    9.0720469916273646497e-15, -3.7115899978381625731e-15, 1.537582290719741848e-15,  -6.4454643627247617586e-16,
    2.7324144482527954868e-16, -1.170783770038562724e-16,  5.0678693979436569476e-17, -2.2150879127142890341e-17,
    9.7720813579303102064e-18, -4.3495197635403277215e-18, 1.9525118377031567844e-18,
};
constexpr double kK1Far[] = {
    1.4532756675938413374,      1.9051350202061164058e-1,  -8.406706460495653868e-3,   8.8153631645143891085e-4,
    -1.2999576958398299922e-4,  2.3441638979785087896e-5,  -4.8534894136102259228e-6,  1.1139969511197356402e-6,
    -2.7727076438050767453e-7,  7.3724718497770797241e-8,  -2.0717892129028322752e-8,  6.1039665494203360083e-9,
    -1.8737789179573489227e-9,  5.9638868844534190492e-10, -1.9602800407430101345e-10, 6.6322738998642028143e-11,
    -2.3034250700407757473e-11, 8.1930825183699753119e-12, -2.9786645069974165603e-12, 1.1049772078983365693e-12,
    -4.1763277431648047626e-13, 1.6061141914625802777e-13, -6.2776326725312890847e-14, 2.4911830875182033207e-14,
    -1.0027796862522929834e-14, 4.091059996919741185e-15,  -1.690331071434487945e-15,  7.0683607922643281042e-16,
    -2.989568012176337624e-16,  1.2781913900252085058e-16, -5.5214911880375836238e-17, 2.4087033253210474774e-17,
    -1.0606842599776098657e-17, 4.7129041813514231925e-18, -2.1121629095181457207e-18,
};

// Clenshaw's recurrence: sum of c[k] T_k(t).
double chebyshev(std::span<const double> c, double t) {
    double next = 0, after = 0;
    for (size_t k = c.size(); k-- > 1;) {
        const double now = 2 * t * next - after + c[k];
        after = next;
        next = now;
    }
    return t * next - after + c[0];
}

// K0(x) and x K1(x) for 0 < x <= 1: https://dlmf.nist.gov/10.31.
struct NearZero {
    double k0, x_k1;
};
NearZero near_zero(double x) {
    const double y = x * x / 4, logarithm = std::log(x / 2) + std::numbers::egamma;
    double term = 1, harmonic = 0, k0 = -logarithm, sum = logarithm - 0.5;  // term: y^k / (k!)^2
    for (int k = 1; k < 12; ++k) {
        term *= y / (k * k);
        harmonic += 1.0 / k;
        k0 += term * (harmonic - logarithm);
        sum += term / (k + 1) * (logarithm - harmonic - 0.5 / (k + 1));
    }
    return {k0, 1 + 2 * y * sum};
}

double scaled_far(std::span<const double> coefficients, double x) {
    return chebyshev(coefficients, 2 / x - 1) / std::sqrt(x);
}
double outside(double x) { return x == 0 ? kInf : kNaN; }

}  // namespace

double bessel_j(double order, double x) noexcept {
    if (!(std::abs(order) <= kMostSteps)) return std::abs(x) < std::abs(order) / 2 ? 0 : kNaN;
    return ::jn(static_cast<int>(order), x);
}

double bessel_y(double order, double x) noexcept {
    if (!(std::abs(order) <= kMostSteps)) return kNaN;
    return ::yn(static_cast<int>(order), x);
}

double modified_bessel_k0(double x) noexcept {
    if (!(x > 0)) return outside(x);
    return x <= 1 ? near_zero(x).k0 : std::exp(-x) * scaled_far(kK0Far, x);
}
double modified_bessel_k1(double x) noexcept {
    if (!(x > 0)) return outside(x);
    return x <= 1 ? near_zero(x).x_k1 / x : std::exp(-x) * scaled_far(kK1Far, x);
}
double scaled_modified_bessel_k0(double x) noexcept {
    if (!(x > 0)) return outside(x);
    return x <= 1 ? near_zero(x).k0 * std::exp(x) : scaled_far(kK0Far, x);
}
double scaled_modified_bessel_k1(double x) noexcept {
    if (!(x > 0)) return outside(x);
    return x <= 1 ? near_zero(x).x_k1 / x * std::exp(x) : scaled_far(kK1Far, x);
}

// K_(n+1) = K_(n-1) + 2n/x K_n grows upwards.
double bessel_k(double order, double x) noexcept {
    if (!(std::abs(order) <= kMostSteps)) return kNaN;
    const int n = static_cast<int>(std::abs(order));
    double before = modified_bessel_k0(x), value = modified_bessel_k1(x);
    if (n == 0) return before;
    for (int k = 1; k < n && std::isfinite(value); ++k) {
        const double next = before + 2 * k / x * value;
        before = value;
        value = next;
    }
    return value;
}

// (-1)^n times the integral over t > 0 of (cosh t - 1)^n exp(-x (cosh t - 1)), by the trapezoidal rule, which converges
// exponentially for such integrands (Trefethen and Weideman 2014, https://doi.org/10.1137/130932132); no term is negative.
double bessel_ke_derivative(double order, double x) noexcept {
    if (!(x > 0)) return x == 0 && order >= 0 ? (static_cast<int64_t>(order) % 2 ? -kInf : kInf) : kNaN;
    if (!(order <= kMostSteps)) return kNaN;
    if (std::isinf(x)) return 0;
    const int n = static_cast<int>(order);
    const double step = std::min(0.2, 0.5 / std::sqrt(x)) / std::sqrt(1 + 0.25 * n);
    double sum = n == 0 ? 0.5 : 0;
    for (int k = 1; k < 1'000'000; ++k) {
        const double root = std::sinh(0.5 * step * k), u = 2 * root * root;
        const double term = std::pow(u, n) * std::exp(-x * u);
        sum += term;
        if (x * u > n && !(term > 1e-17 * sum)) break;
    }
    return (n % 2 ? -1 : 1) * step * sum;
}

}  // namespace wengert::special
