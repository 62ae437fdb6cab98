// Running a loop over dense arrays on rows that are not dense: block by block through buffers.
//
// Compiled once per instruction set and type-erased: elements are moved by their size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/scalar/config.h"

namespace wengert::kernels::WENGERT_ISA {

using DenseRow = void (*)(char* const* args, int64_t n);

inline constexpr int64_t kBlock = 256;  // elements; five buffers of the widest type fill 20 KiB
inline constexpr int kMaxBlockArrays = 10;

// Memory of any type, moved as words.
using Word1 [[gnu::may_alias]] = uint8_t;
using Word2 [[gnu::may_alias]] = uint16_t;
using Word4 [[gnu::may_alias]] = uint32_t;
using Word8 [[gnu::may_alias]] = uint64_t;
struct [[gnu::may_alias]] Word16 {
    uint64_t words[2];
};

template <class Word>
WENGERT_INLINE void gather(char* buffer, const char* from, int64_t n, int64_t step) {
    Word* to = reinterpret_cast<Word*>(buffer);
    if (step == 0) {
        const Word value = *reinterpret_cast<const Word*>(from);
        for (int64_t i = 0; i < n; ++i) to[i] = value;
    } else {
        for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const Word*>(from + i * step);
    }
}

template <class Word>
WENGERT_INLINE void scatter(char* to, const char* buffer, int64_t n, int64_t step) {
    const Word* from = reinterpret_cast<const Word*>(buffer);
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<Word*>(to + i * step) = from[i];
}

// Calls move.operator()<Word>() for elements of that many bytes.
template <class Move>
WENGERT_INLINE void by_size(int64_t size, Move move) {
    switch (size) {
        case 1:
            return move.template operator()<Word1>();
        case 2:
            return move.template operator()<Word2>();
        case 4:
            return move.template operator()<Word4>();
        case 8:
            return move.template operator()<Word8>();
        default:
            return move.template operator()<Word16>();
    }
}

// The last array is the output.
[[gnu::noinline]] inline void run_in_blocks(DenseRow row, char* const* args, int64_t n, const int64_t* steps,
                                            const int64_t* sizes, int arrays) {
    alignas(64) char buffers[kMaxBlockArrays][kBlock * sizeof(Word16)];
    const int out = arrays - 1;
    for (int64_t start = 0; start < n; start += kBlock) {
        const int64_t length = n - start < kBlock ? n - start : kBlock;
        char* block[kMaxBlockArrays];
        for (int a = 0; a < arrays; ++a) {
            char* memory = args[a] + start * steps[a];
            const bool dense = steps[a] == sizes[a];
            block[a] = dense ? memory : buffers[a];
            if (a == out || dense || (steps[a] == 0 && start != 0)) continue;
            by_size(sizes[a], [&]<class Word>() __attribute__((always_inline)) {
                gather<Word>(buffers[a], memory, length, steps[a]);
            });
        }
        row(block, length);
        if (steps[out] != sizes[out])
            by_size(sizes[out], [&]<class Word>() __attribute__((always_inline)) {
                scatter<Word>(args[out] + start * steps[out], buffers[out], length, steps[out]);
            });
    }
}

}  // namespace wengert::kernels::WENGERT_ISA
