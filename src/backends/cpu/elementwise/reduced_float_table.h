// Conversion between float and reduced types, compiled per instruction set (isa/reduced_float_loops.cpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/reduced_float.h"

namespace wengert::kernels {

template <class From, class To>
using ConvertFloats = void (*)(const From* from, To* to, int64_t n);

struct ReducedFloatTable {
    ConvertFloats<Half, float> from_half;
    ConvertFloats<float, Half> to_half;
    ConvertFloats<BFloat16, float> from_bfloat16;
    ConvertFloats<float, BFloat16> to_bfloat16;

    template <class From, class To>
    ConvertFloats<From, To> of() const noexcept {
        if constexpr (std::is_same_v<From, Half>)
            return from_half;
        else if constexpr (std::is_same_v<To, Half>)
            return to_half;
        else if constexpr (std::is_same_v<From, BFloat16>)
            return from_bfloat16;
        else
            return to_bfloat16;
    }
};
const ReducedFloatTable& reduced_float_table();

template <class From, class To>
inline constexpr bool has_reduced_float_loop =
    (is_reduced_float<From> && std::is_same_v<To, float>) || (is_reduced_float<To> && std::is_same_v<From, float>);

}  // namespace wengert::kernels
