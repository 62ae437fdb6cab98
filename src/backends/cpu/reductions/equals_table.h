// Elements that are equal to a given one, NaN to NaN, compiled per instruction set (isa/equals_loops.cpp).
#pragma once

#include <cstdint>

namespace wengert::kernels {

template <class T>
struct EqualsLoops {
    // How many of a row's n elements are equal to `value`.
    int64_t (*count)(const T* row, int64_t n, T value);
    // to[i] = share where row[i] is equal to value, else 0
    void (*write)(const T* row, int64_t n, T value, T share, T* to);
    // Both for each row: the share is grad / count.
    void (*rows)(const T* from, int64_t rows, int64_t n, const T* values, const T* grad, T* to);
    // Both for each of `width` columns of a matrix of `rows` rows, `stride` apart: their shares are grad / count. At most
    // kColumns columns.
    void (*columns)(const T* from, int64_t rows, int64_t stride, int64_t width, const T* values, const T* grad, T* to);
    // The same for matrices of few columns one behind the other.
    void (*matrices)(const T* from, int64_t count, int64_t rows, int64_t width, const T* values, const T* grad, T* to);
};
struct EqualsTable {
    static constexpr int64_t kColumns = 512, kFewColumns = 8;
    EqualsLoops<float> of_float;
    EqualsLoops<double> of_double;
};
const EqualsTable& equals_table();

}  // namespace wengert::kernels
