// float16 and bfloat16: floating types that elements are stored in, and nobody computes in (tensor/dtype.h).
//
// A Half becomes a float without loss, and a float the nearest Half, ties to even. All else goes through float, as in
// PyTorch: a double is rounded twice. Conversions are written without branches, so that loops of them are vectorised.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace wengert {

namespace reduced_float {

// 5 bits of exponent, 10 of fraction (IEEE 754 binary16).
constexpr float from_half(uint16_t bits) noexcept {
    const uint32_t sign = uint32_t{bits} << 16 & 0x80000000u, rest = bits & 0x7fffu;
    const uint32_t normal = (rest << 13) + (uint32_t{127 - 15} << 23);
    const uint32_t infinite_or_nan = (rest << 13) | 0x7f800000u;
    const uint32_t subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(rest)) * 0x1p-24f);
    const uint32_t magnitude = rest >= 0x7c00u ? infinite_or_nan : rest < 0x0400u ? subnormal : normal;
    return std::bit_cast<float>(sign | magnitude);
}

constexpr uint16_t to_half(float x) noexcept {
    const uint32_t bits = std::bit_cast<uint32_t>(x), sign = bits & 0x80000000u, rest = bits ^ sign;
    // Half of the last place is added, less one where the last bit is even, and what carries over goes to the exponent.
    const uint32_t normal = (rest - (uint32_t{127 - 15} << 23) + 0xfffu + (rest >> 13 & 1)) >> 13;
    // The addition of 0.5 rounds to multiples of 2**-24, which is the last place of subnormal numbers.
    const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5f) - 0x3f000000u;
    const uint32_t infinite_or_nan = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t magnitude = rest >= 0x477ff000u ? infinite_or_nan : rest < 0x38800000u ? subnormal : normal;
    return static_cast<uint16_t>(sign >> 16 | magnitude);
}

// The upper half of a float.
constexpr float from_bfloat16(uint16_t bits) noexcept { return std::bit_cast<float>(uint32_t{bits} << 16); }

constexpr uint16_t to_bfloat16(float x) noexcept {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

}  // namespace reduced_float

template <float (*from_bits)(uint16_t) noexcept, uint16_t (*to_bits)(float) noexcept>
struct ReducedFloat {
    uint16_t bits;

    ReducedFloat() = default;
    template <class T>
        requires std::is_arithmetic_v<T>
    constexpr explicit ReducedFloat(T x) noexcept : bits(to_bits(static_cast<float>(x))) {}
    constexpr operator float() const noexcept { return from_bits(bits); }
};

using Half = ReducedFloat<reduced_float::from_half, reduced_float::to_half>;
using BFloat16 = ReducedFloat<reduced_float::from_bfloat16, reduced_float::to_bfloat16>;

template <class T>
inline constexpr bool is_reduced_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

}  // namespace wengert
