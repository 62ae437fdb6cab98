// Turning blocks of a matrix over in registers: L rows of L elements become L columns.
//
// log2(L) rounds; in round s, rows i and i + s exchange the lanes of a with bit s set for those of b without it (the
// recursive exchange of off-diagonal blocks; J. O. Eklundh, A fast computer method for matrix transposing, 1972). A loop over
// elements takes four times as long, as much as the product of small matrices that is to be packed.
#pragma once

#include <cstddef>
#include <utility>

#include "backends/cpu/isa/fma.h"

namespace wengert::kernels::WENGERT_ISA {

template <int S, class V, std::size_t... J>
WENGERT_ALWAYS_INLINE void exchange(V& a, V& b, std::index_sequence<J...>) {
    constexpr int L = sizeof...(J);
    V low =
        __builtin_shufflevector(a, b, (static_cast<int>(J) & S ? L + static_cast<int>(J) - S : static_cast<int>(J))...);
    b = __builtin_shufflevector(a, b, (static_cast<int>(J) & S ? L + static_cast<int>(J) : static_cast<int>(J) + S)...);
    a = low;
}

template <class T, int S>
WENGERT_ALWAYS_INLINE void exchange_all(Vec<T> (&rows)[kLanes<T>]) {
    if constexpr (S > 0) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes<T>; ++i)
            if (!(i & S)) exchange<S>(rows[i], rows[i + S], std::make_index_sequence<kLanes<T>>());
        exchange_all<T, S / 2>(rows);
    }
}

template <class T>
WENGERT_ALWAYS_INLINE void transpose_block(Vec<T> (&rows)[kLanes<T>]) {
    exchange_all<T, kLanes<T> / 2>(rows);
}

// `count` rows of a block, the others zero.
template <class T>
WENGERT_ALWAYS_INLINE void load_rows(const T* src, int64_t step, int count, Vec<T> (&rows)[kLanes<T>]) {
    if (count >= kLanes<T>) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes<T>; ++i) rows[i] = load(src + i * step);
    } else {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes<T>; ++i) rows[i] = i < count ? load(src + i * step) : Vec<T>{};
    }
}

// dst[p * dst_step + i] = src[i * src_step + p] for i < rows, p < cols. The last block begins where it fits, on elements
// that were moved before.
template <class T>
void transpose(int64_t rows, int64_t cols, const T* src, int64_t src_step, T* dst, int64_t dst_step) {
    constexpr int L = kLanes<T>;
    if (rows < L || cols < L) {
        for (int64_t p = 0; p < cols; ++p)
            for (int64_t i = 0; i < rows; ++i) dst[p * dst_step + i] = src[i * src_step + p];
        return;
    }
    for (int64_t next = 0; next < rows; next += L) {
        const int64_t i = next + L <= rows ? next : rows - L;
        for (int64_t following = 0; following < cols; following += L) {
            const int64_t p = following + L <= cols ? following : cols - L;
            Vec<T> block[L];
            load_rows(src + i * src_step + p, src_step, L, block);
            transpose_block<T>(block);
#pragma GCC unroll 16
            for (int q = 0; q < L; ++q) store(dst + (p + q) * dst_step + i, block[q]);
        }
    }
}

}  // namespace wengert::kernels::WENGERT_ISA
