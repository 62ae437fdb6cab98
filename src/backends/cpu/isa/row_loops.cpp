// Rows that are filled or copied into a block, once per instruction set.
#include "backends/cpu/elementwise/row_table.h"
#include "backends/cpu/scalar/config.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class Word>
void spread(Word* memory, int64_t rows, int64_t columns, const char* from, int64_t step) {
    using Element [[gnu::may_alias]] = Word;
    Element* to = memory;
    for (int64_t r = 0; r < rows; ++r, from += step, to += columns) {
        const Word value = *reinterpret_cast<const Element*>(from);
        for (int64_t c = 0; c < columns; ++c) to[c] = value;
    }
}

// The last line of a row begins before its end: it overlaps the one before it.
void copy(char* to, int64_t rows, int64_t bytes, const char* from, int64_t step) {
    constexpr int64_t kLine = 64;
    typedef char Line [[gnu::vector_size(kLine), gnu::aligned(1), gnu::may_alias]];
    const auto move = [](char* line, const char* source) {
        *reinterpret_cast<Line*>(line) = *reinterpret_cast<const Line*>(source);
    };
    for (int64_t r = 0; r < rows; ++r, from += step, to += bytes) {
        if (bytes < kLine) {
            __builtin_memcpy(to, from, static_cast<size_t>(bytes));
            continue;
        }
        for (int64_t i = 0; i + kLine < bytes; i += kLine) move(to + i, from + i);
        move(to + bytes - kLine, from + bytes - kLine);
    }
}

}  // namespace

extern const RowTable row_table;
const RowTable row_table = {spread<uint8_t>, spread<uint16_t>, spread<uint32_t>, spread<uint64_t>, copy};

}  // namespace wengert::kernels::WENGERT_ISA
