// Scalar mathematics at the hard points: tails, subnormals, infinities, NaN, ties, integer limits.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "backends/cpu/scalar_math.h"

namespace s = wengert::scalar;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

bool close(double a, double b, double relative = 1e-14) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    return std::fabs(a - b) <= relative * std::fabs(b);
}

}  // namespace

TEST_CASE("far tails keep their digits") {
    CHECK(close(s::sigmoid(37.43) * s::sigmoid(-37.43), 5.55082508625e-17, 1e-11));
    CHECK(close(s::sigmoid(-740.0), std::exp(-740.0), 1e-3));
    CHECK(s::sigmoid(kInf) == 1);
    CHECK(s::sigmoid(-kInf) == 0);
    CHECK(std::isnan(s::sigmoid(kNan)));
    CHECK(s::expm1(-40.0) == -1);
    CHECK(s::log1p(1e-300) == 1e-300);
    CHECK(close(s::sqrt(5e-324), 2.2227587494850775e-162));
    CHECK(s::tanh(1e-10f) == 1e-10f);
    CHECK(s::logaddexp(1e308, 1e308) == 1e308);
    CHECK(s::logaddexp(-kInf, -kInf) == -kInf);
    CHECK(s::logaddexp(kInf, kInf) == kInf);
    CHECK(close(s::logaddexp(0.0, -50.0), 1.9287498479639178e-22));
    CHECK(s::xlogy(0.0, 0.0) == 0);
    CHECK(std::isnan(s::xlogy(0.0, kNan)));
}

TEST_CASE("the chain-rule product") {
    CHECK(s::chain(0.0, kInf) == 0);
    CHECK(s::chain(0.0, kNan) == 0);
    CHECK(s::chain(kInf, 0.0) == 0);
    CHECK(s::chain(kNan, 0.0) == 0);
    CHECK(std::signbit(s::chain(1.0, -0.0)));
    CHECK(s::chain(2.0, 3.0) == 6);
    CHECK(std::isnan(s::chain(1.0, kNan)));
    CHECK(s::chain(3.0f, true) == 3);
    using C = s::complex128;
    CHECK(s::chain(C(0), C(kInf, kNan)) == C(0));
    CHECK(s::chain(C(kInf, kNan), C(0)) == C(0));
    CHECK(s::chain(C(2), C(kInf, 3)) == C(kInf, 6));
    CHECK(s::chain(C(kInf, 0), 1.0) == C(kInf, 0));
    CHECK(s::chain(C(1, 2), C(3, 4)) == C(-5, 10));
}

TEST_CASE("NaN in maxima and minima") {
    CHECK(std::isnan(s::maximum(kNan, 1.0)));
    CHECK(std::isnan(s::maximum(1.0, kNan)));
    CHECK(std::isnan(s::minimum(1.0, kNan)));
    CHECK(s::fmax(kNan, 1.0) == 1);
    CHECK(s::fmin(1.0, kNan) == 1);
    CHECK(std::isnan(s::fmax(kNan, kNan)));
}

TEST_CASE("rounding and remainders") {
    CHECK(s::round(0.5) == 0);
    CHECK(s::round(1.5) == 2);
    CHECK(s::round(-2.5f) == -2);
    CHECK(s::remainder(-7.0, 3.0) == 2);
    CHECK(s::fmod(-7.0, 3.0) == -1);
    CHECK(s::remainder(-7, 3) == 2);
    CHECK(s::remainder(int8_t{7}, int8_t{-3}) == -2);
    CHECK(s::floor_divide(-7, 2) == -4);
    CHECK(s::floor_divide(1.0, 0.1) == 9);
    CHECK(s::floor_divide(1.0, 0.0) == kInf);
    CHECK(s::trunc_divide(-7, 2) == -3);
    int64_t least = std::numeric_limits<int64_t>::min();
    CHECK(s::floor_divide(least, int64_t{-1}) == least);
    CHECK(s::remainder(least, int64_t{-1}) == 0);
    CHECK(s::abs(least) == least);
}

TEST_CASE("integers") {
    CHECK(s::pow(int64_t{3}, int64_t{4}) == 81);
    CHECK(s::pow(int64_t{-1}, int64_t{-3}) == -1);
    CHECK(s::pow(int64_t{2}, int64_t{-1}) == 0);
    CHECK(s::bitwise_left_shift(1, 31) == std::numeric_limits<int>::min());
    CHECK(s::bitwise_left_shift(1, 32) == 0);
    CHECK(s::bitwise_right_shift(-8, 1) == -4);
    CHECK(s::bitwise_right_shift(-8, 40) == -1);
    CHECK(s::gcd(12, -18) == 6);
}

TEST_CASE("complex numbers") {
    using C = s::complex128;
    CHECK(s::pow(C(0), C(0)) == C(1));
    CHECK(s::pow(C(1, 1), C(2)) == C(0, 2));
    CHECK(s::abs(C(3, 4)) == 5);
    CHECK(s::sgn(C(0)) == C(0));
    CHECK(std::abs(s::log1p(C(1e-20, 1e-20)) - C(1e-20, 1e-20)) < 1e-34);
    CHECK(std::abs(s::expm1(C(1e-20, 1e-20)) - C(1e-20, 1e-20)) < 1e-34);
    CHECK(std::abs(C(1e300, 1e300) / C(1e300, 1e300) - C(1)) < 1e-15);
    CHECK(s::lerp(C(1), C(3), C(1)) == C(3));
}

TEST_CASE("special functions against values of 17 digits") {
    CHECK(close(s::digamma(1.0), -0.57721566490153286));
    CHECK(close(s::digamma(1e-3), -1000.5755719318103));
    CHECK(close(s::digamma(-0.5), 0.036489973978576521, 1e-13));
    CHECK(std::fabs(s::digamma(1.4616321449683623)) < 1e-15);
    CHECK(close(s::trigamma(1.0), 1.6449340668482264));
    CHECK(close(s::polygamma(3.0, 0.5), 97.409091034002437));
    CHECK(close(s::zeta(2.0, 1.0), 1.6449340668482264));
    CHECK(close(s::igamma(2.0, 1.0), 0.26424111765711536));
    CHECK(close(s::igammac(1e-3, 1.0), 0.00021960835758555639, 1e-13));
    CHECK(s::igamma(1.0, kInf) == 1);
    CHECK(close(s::erfinv(0.5), 0.47693627620446987));
    CHECK(s::erfinv(1.0) == kInf);
    CHECK(std::isnan(s::erfinv(1.5)));
    CHECK(close(s::erfcx(100.0), 0.005641613782989433));
    CHECK(close(s::ndtri(1e-300), -37.047096299361199));
    CHECK(close(s::log_ndtr(-50.0), -1254.8313611394199));
    CHECK(close(s::i0(1.0), 1.2660658777520084));
    CHECK(close(s::i1e(20.0), 0.087506222183288665));
    CHECK(s::i0(0.0) == 1);
}
