// The Airy function Ai and its derivatives: https://dlmf.nist.gov/9.
//
// Near 0 a Taylor series from the nearest integer on the side where Ai is smaller or oscillates, so that an error of the
// start does not grow; beyond 10 the asymptotic series. Higher derivatives follow from Ai'' = x Ai.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "backends/cpu/scalar/families.h"
#include "backends/cpu/scalar/special.h"

namespace wengert::special {
namespace {

struct Airy {
    double value, slope;
};

constexpr double kMostOrders = 1e6;
constexpr int kTable = 10;
// At -10, -9, ..., 10; computed in 40 digits.
constexpr Airy kAt[] = {
    {0.040241238486443190689, 0.9962650441327900559},        {-0.022133721547341403674, -0.97566398092633159471},
    {-0.052705050356386202622, 0.93556093819830655103},      {0.18428083525050563728, -0.77100816841012654773},
    {-0.32914517362982310523, 0.34593548728134289493},       {0.35076100902411431979, 0.32719281855444313679},
    {-0.070265532949289515099, -0.7906285753685813803},      {-0.37881429367765807435, 0.31458376921659881365},
    {0.22740742820168557599, 0.61825902074169104141},        {0.5355608832923521188, -0.010160567116645209395},
    {0.35502805388781723926, -0.25881940379280679841},       {0.13529241631288141552, -0.15914744129679321279},
    {0.034924130423274379135, -0.053090384433653631704},     {0.0065911393574607191443, -0.011912976705951318474},
    {0.00095156385120480187362, -0.0019586409502041789001},  {0.00010834442813607441735, -0.000247413890868462476},
    {9.9476943602528895702e-6, -0.000024765200397034954754}, {7.4921288639971670808e-7, -2.0081508947387919912e-6},
    {4.6922076160992316256e-8, -1.3414392979067865743e-7},   {2.4711684308724898433e-9, -7.4806413896589464128e-9},
    {1.1047532552898685934e-10, -3.5206336767389236366e-10},
};

// a_k in y = sum of a_k h^k about each of them: (k+1)(k+2) a_(k+2) = centre a_k + a_(k-1). Where |h| <= 1, what follows is
// below half a unit in the last place.
constexpr int kTerms = 32;
struct Coefficients {
    double of[2 * kTable + 1][kTerms + 1];
};
constexpr Coefficients kSeries = [] {
    Coefficients all{};
    for (int centre = -kTable; centre <= kTable; ++centre) {
        long double before = 0, here = kAt[centre + kTable].value, next = kAt[centre + kTable].slope;
        for (int k = 0; k <= kTerms; ++k) {
            all.of[centre + kTable][k] = static_cast<double>(here);
            const long double after = (centre * here + before) / ((k + 1) * (k + 2));
            before = here;
            here = next;
            next = after;
        }
    }
    return all;
}();

// Where Ai decays the series runs backwards, from the integer above: forwards it would meet the growing solution. Even and
// odd powers are summed apart, which halves the chain of dependent operations.
Airy taylor(double x) {
    const double centre = x > 0 ? std::ceil(x) : std::round(x), h = x - centre, square = h * h;
    const double* a = kSeries.of[static_cast<int>(centre) + kTable];
    double even = 0, odd = 0, even_slope = 0, odd_slope = 0;
    for (int k = kTerms - 2; k >= 0; k -= 2) {
        even = even * square + a[k];
        odd = odd * square + a[k + 1];
        even_slope = even_slope * square + (k + 1) * a[k + 1];
        odd_slope = odd_slope * square + (k + 2) * a[k + 2];
    }
    return {even + h * odd, even_slope + h * odd_slope};
}

// (2/3) x^(3/2) as a sum of two numbers: its error would be one of the exponential, or of the phase.
struct Zeta {
    double high, low;
};
Zeta zeta_of(double x) {
    const double root = std::sqrt(x), rest = std::fma(-root, root, x) / (2 * root);
    const double product = x * root, error = std::fma(x, root, -product) + x * rest;
    const double high = product / 1.5;
    return {high, (std::fma(-1.5, high, product) + error) / 1.5};
}

// Terms u_k / zeta^k and v_k / zeta^k, https://dlmf.nist.gov/9.7.2, to the smallest.
template <class Take>
void asymptotic_terms(double zeta, Take take) {
    double u = 1;
    take(0, 1.0, 1.0);
    for (int k = 1; k < 60; ++k) {
        const double factor = (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2 * k - 1)) / zeta;
        if (factor >= 1 || u < 1e-20) return;
        u *= factor;
        take(k, u, -u * (6.0 * k + 1) / (6.0 * k - 1));
    }
}

Airy decaying(double x) {
    const Zeta zeta = zeta_of(x);
    if (zeta.high > 800) return {0, 0};
    double value = 0, slope = 0;
    asymptotic_terms(zeta.high, [&](int k, double u, double v) {
        value += k % 2 ? -u : u;
        slope += k % 2 ? -v : v;
    });
    const double scale = std::exp(-zeta.high) * (1 - zeta.low) * 0.5 * std::numbers::inv_sqrtpi,
                 root = std::sqrt(std::sqrt(x));
    return {scale / root * value, -scale * root * slope};
}

Airy oscillating(double x) {  // at -x
    const Zeta zeta = zeta_of(x);
    double even[2] = {}, odd[2] = {};
    asymptotic_terms(zeta.high, [&](int k, double u, double v) {
        const double sign = k / 2 % 2 ? -1 : 1;
        (k % 2 ? odd : even)[0] += sign * u;
        (k % 2 ? odd : even)[1] += sign * v;
    });
    double sine = std::sin(zeta.high), cosine = std::cos(zeta.high);
    const double turned_sine = sine + zeta.low * cosine, turned_cosine = cosine - zeta.low * sine;
    sine = (turned_sine - turned_cosine) / std::numbers::sqrt2;  // of zeta - pi/4
    cosine = (turned_sine + turned_cosine) / std::numbers::sqrt2;
    const double root = std::sqrt(std::sqrt(x));
    return {std::numbers::inv_sqrtpi / root * (cosine * even[0] + sine * odd[0]),
            std::numbers::inv_sqrtpi * root * (sine * even[1] - cosine * odd[1])};
}

Airy airy(double x) {
    if (std::abs(x) <= kTable) return taylor(x);
    if (std::isinf(x)) return {0, x > 0 ? 0 : std::numeric_limits<double>::quiet_NaN()};
    return x > 0 ? decaying(x) : oscillating(-x);
}

}  // namespace

double airy_ai(double x) noexcept { return std::isnan(x) ? x : airy(x).value; }

// Ai^(n) = x Ai^(n-2) + (n-2) Ai^(n-3)
double airy_ai_derivative(double order, double x) noexcept {
    if (std::isnan(x)) return x;
    if (!(order <= kMostOrders)) return std::numeric_limits<double>::quiet_NaN();
    if (x == std::numeric_limits<double>::infinity()) return 0;
    const auto [value, slope] = airy(x);
    double before = 0, here = value, next = slope;
    for (int k = 0; k < static_cast<int>(order); ++k) {
        const double after = x * here + k * before;
        before = here;
        here = next;
        next = after;
    }
    return here;
}

}  // namespace wengert::special
