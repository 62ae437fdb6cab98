// exp and pow for the hand-written loops; a loop that calls them is vectorised.
//
// exp is our own: the loops here need nothing of it but speed and 2 ulp. With x = n ln 2 + r, |r| <= ln 2 / 2, the
// result is 2^n times a Taylor polynomial of r; 2^n is multiplied in two halves, so that subnormal results and
// overflow come out right. Where the processor has them, multiply-adds are fused: half of the operations. n is read off the low bits of x / ln 2 + 1.5 * 2^(mantissa bits), which rounds it. pow
// is libmvec's.
#pragma once

#include <bit>

#include "backends/cpu/isa/vectors.h"
#include "backends/cpu/scalar/arithmetic.h"
#include "backends/cpu/scalar/libmvec.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

// 2^n for n within the exponents of normal numbers, modulo 2^32 or 2^64.
WENGERT_ALWAYS_INLINE float power_of_two(uint32_t n) { return std::bit_cast<float>((n + 127) << 23); }
WENGERT_ALWAYS_INLINE double power_of_two(uint64_t n) { return std::bit_cast<double>((n + 1023) << 52); }

using scalar::times_plus;

WENGERT_ALWAYS_INLINE float vector_exp(float x) {
    const float magic = 12582912.0f;  // 1.5 * 2^23
    x = x < -104.0f ? -104.0f : x;    // NaN passes through both
    x = x > 89.0f ? 89.0f : x;
    float shifted = times_plus(x, 1.44269504f, magic);
    float n = shifted - magic;
    float r =
        times_plus(n, 2.12194440e-4f, times_plus(n, -0.693359375f, x));  // ln 2 in two parts, the first with few bits
    float p = 1.0f / 5040;
    p = times_plus(p, r, 1.0f / 720);
    p = times_plus(p, r, 1.0f / 120);
    p = times_plus(p, r, 1.0f / 24);
    p = times_plus(p, r, 1.0f / 6);
    p = times_plus(p, r, 0.5f);
    p = times_plus(p * r, r, r) + 1.0f;
    auto k = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(magic));
    int32_t half = k >> 1;
    return p * power_of_two(static_cast<uint32_t>(half)) *
           power_of_two(static_cast<uint32_t>(k) - static_cast<uint32_t>(half));
}

WENGERT_ALWAYS_INLINE double vector_exp(double x) {
    const double magic = 6755399441055744.0;  // 1.5 * 2^52
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    double shifted = times_plus(x, 1.4426950408889634, magic);
    double n = shifted - magic;
    double r = times_plus(n, -1.90821492927058770002e-10, times_plus(n, -6.93147180369123816490e-01, x));
    double p = 1.0 / 6227020800;
    p = times_plus(p, r, 1.0 / 479001600);
    p = times_plus(p, r, 1.0 / 39916800);
    p = times_plus(p, r, 1.0 / 3628800);
    p = times_plus(p, r, 1.0 / 362880);
    p = times_plus(p, r, 1.0 / 40320);
    p = times_plus(p, r, 1.0 / 5040);
    p = times_plus(p, r, 1.0 / 720);
    p = times_plus(p, r, 1.0 / 120);
    p = times_plus(p, r, 1.0 / 24);
    p = times_plus(p, r, 1.0 / 6);
    p = times_plus(p, r, 0.5);
    p = times_plus(p * r, r, r) + 1.0;
    uint64_t k = std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(magic);  // any bits where x is NaN
    uint64_t half = ((k + 4096) >> 1) - 2048;  // k / 2: no 64-bit signed shift in AVX2
    return p * power_of_two(half) * power_of_two(k - half);
}

WENGERT_ALWAYS_INLINE float vector_pow(float x, float p) { return ::powf(x, p); }
WENGERT_ALWAYS_INLINE double vector_pow(double x, double p) { return ::pow(x, p); }

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
