// Turning matrices over, compiled per instruction set (isa/transpose_loops.cpp).
#pragma once

#include <cstdint>

namespace wengert::kernels {

// dst[p * dst_step + i] = src[i * src_step + p] for i < rows, p < cols; steps in elements.
template <class T>
using Transpose = void (*)(int64_t rows, int64_t cols, const T* src, int64_t src_step, T* dst, int64_t dst_step);

// For elements of that size, whatever they mean: nothing is computed.
struct TransposeTable {
    Transpose<float> words4;
    Transpose<double> words8;

    template <class T>
    Transpose<T> of() const noexcept {
        if constexpr (sizeof(T) == 4)
            return words4;
        else
            return words8;
    }
};
const TransposeTable& transpose_table();

}  // namespace wengert::kernels
