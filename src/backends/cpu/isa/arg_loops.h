// Positions of extremes along tiles (argmax, argmin, max and min with indices): see backends/cpu/reductions/reduce_table.h.
#pragma once

#include "backends/cpu/isa/rows.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <bool kMax, class T>
WENGERT_ALWAYS_INLINE bool beats(T x, T best) {  // NaN beats every number, but not a NaN before it
    if constexpr (std::is_floating_point_v<T>)
        return (kMax ? x > best : x < best) | ((x != x) & (best == best));
    else
        return kMax ? x > best : x < best;
}

template <class T>
int64_t first_match(const T* p, int64_t n, T value) {  // there is one
    constexpr int64_t kBlock = 64;
    const bool nan = value != value;
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) {
        int hits = 0;
        for (int64_t k = 0; k < kBlock; ++k) hits |= (p[i + k] == value) | (nan & (p[i + k] != p[i + k]));
        if (hits) break;
    }
    while (p[i] != value && !(nan && p[i] != p[i])) ++i;
    return i;
}

template <bool kMax, class T>
void arg_row(const T* p, int64_t n, T& best, int64_t& at, int64_t base) {
    T found;
    if constexpr (std::is_floating_point_v<T>) {
        found = kMax ? row<MaxOp<T>>(p, n, lowest<T>) : row<MinOp<T>>(p, n, highest<T>);
    } else {
        found = p[0];
        for (int64_t i = 1; i < n; ++i) found = kMax ? (p[i] > found ? p[i] : found) : (p[i] < found ? p[i] : found);
    }
    if (base == 0 || beats<kMax>(found, best)) {
        best = found;
        at = base + first_match(p, n, found);
    }
}

template <bool kMax, class T>
void arg_sweep(const T* p, int64_t rows, int64_t row_stride, int64_t cols, T* values, int64_t* indices) {
    using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    for (int64_t c0 = 0; c0 < cols; c0 += kBuffer) {
        int64_t width = cols - c0 < kBuffer ? cols - c0 : kBuffer;
        T best[kBuffer];
        Index at[kBuffer];
        for (int64_t c = 0; c < width; ++c) {
            best[c] = p[c0 + c];
            at[c] = 0;
        }
        for (int64_t r = 1; r < rows; ++r) {
            const T* __restrict a = p + r * row_stride + c0;
            for (int64_t c = 0; c < width; ++c) {
                bool take = beats<kMax>(a[c], best[c]);
                best[c] = take ? a[c] : best[c];
                at[c] = take ? static_cast<Index>(r) : at[c];
            }
        }
        for (int64_t c = 0; c < width; ++c) {
            values[c0 + c] = best[c];
            indices[c0 + c] = at[c];
        }
    }
}

template <bool kMax, class T>
void arg_tile(const void* in, const Tile& t, void* values, int64_t* indices) {
    auto* p = static_cast<const T*>(in);
    auto* out = static_cast<T*>(values);
    if (t.row_stride == 1 && t.rows < Lanes<T>::kCount && t.cols >= 8) {
        transposed_rows(p, t.rows, t.cols, t.col_stride, [=](const T* block, int64_t first, int64_t count) {
            arg_sweep<kMax>(block, t.rows, kTransposed, count, out + first, indices + first);
        });
    } else if (t.row_stride == 1) {
        for (int64_t c = 0; c < t.cols; ++c) arg_row<kMax>(p + c * t.col_stride, t.rows, out[c], indices[c], 0);
    } else if (t.col_stride == 1 && t.rows <= INT32_MAX) {
        arg_sweep<kMax>(p, t.rows, t.row_stride, t.cols, out, indices);
    } else {
        for (int64_t c = 0; c < t.cols; ++c) {
            int64_t base = 0;
            gather<T>(p + c * t.col_stride, t.rows, t.row_stride, [&](const T* b, int64_t n) {
                arg_row<kMax>(b, n, out[c], indices[c], base);
                base += n;
            });
        }
    }
}

}  // namespace
}  // namespace wengert::kernels::WENGERT_ISA
