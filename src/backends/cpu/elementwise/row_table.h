// Rows that are filled or copied into a block, compiled per instruction set (isa/row_loops.cpp).
#pragma once

#include <cstdint>
#include <cstring>

namespace wengert::kernels {

// to[r * columns + c] = the word at from + r * step (bytes).
template <class Word>
using Spread = void (*)(Word* to, int64_t rows, int64_t columns, const char* from, int64_t step);

// For elements of that size, whatever they mean: nothing is computed.
struct RowTable {
    Spread<uint8_t> spread1;
    Spread<uint16_t> spread2;
    Spread<uint32_t> spread4;
    Spread<uint64_t> spread8;
    // `bytes` bytes from from + r * step to to + r * bytes
    void (*copy)(char* to, int64_t rows, int64_t bytes, const char* from, int64_t step);
};
const RowTable& row_table();

// The first of each row, for all its columns. T is moved as a word.
template <class T>
void spread_rows(T* to, int64_t rows, int64_t columns, const char* from, int64_t step) {
    if constexpr (sizeof(T) == 1)
        row_table().spread1(reinterpret_cast<uint8_t*>(to), rows, columns, from, step);
    else if constexpr (sizeof(T) == 2)
        row_table().spread2(reinterpret_cast<uint16_t*>(to), rows, columns, from, step);
    else if constexpr (sizeof(T) == 4)
        row_table().spread4(reinterpret_cast<uint32_t*>(to), rows, columns, from, step);
    else if constexpr (sizeof(T) == 8)
        row_table().spread8(reinterpret_cast<uint64_t*>(to), rows, columns, from, step);
    else
        for (int64_t r = 0; r < rows; ++r, from += step)
            for (int64_t c = 0; c < columns; ++c) std::memcpy(to++, from, sizeof(T));
}

}  // namespace wengert::kernels
