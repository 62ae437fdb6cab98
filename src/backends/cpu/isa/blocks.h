// Running a loop over dense arrays block by block through buffers: on rows that are not dense, and where the result is
// so large that it is written past the caches.
//
// Compiled once per instruction set and type-erased: elements are moved by their size.
#pragma once

#if defined(__SSE2__) && !defined(WENGERT_PORTABLE)
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>

#include "backends/cpu/scalar/config.h"

namespace wengert::kernels::WENGERT_ISA {

using DenseRow = void (*)(char* const* args, int64_t n);

inline constexpr int64_t kLine = 64;            // bytes; the elements of a line are whole vectors
inline constexpr int64_t kBufferBytes = 4096;   // of a block's elements; five buffers fill 20 KiB
inline constexpr int64_t kStreamedBlock = 256;  // elements: longer ones would keep reading waiting for writing
inline constexpr int kMaxBlockArrays = 10;

// The next block of what is left, no longer than `most` and the one before it. The last two are of a size: in blocks of
// whole vectors, none short, each element is computed by the same instructions as in one pass over a dense row.
WENGERT_INLINE int64_t block_length(int64_t left, int64_t most) {
    if (left >= 2 * most) return most;
    return left > most ? ((left + 1) / 2 + kLine - 1) / kLine * kLine : left;
}

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
    } else if (step == 2 * static_cast<int64_t>(sizeof(Word))) {  // parts of complex numbers, by vectors
        const Word* pairs = reinterpret_cast<const Word*>(from);
        for (int64_t i = 0; i < n; ++i) to[i] = pairs[2 * i];
    } else {
        for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const Word*>(from + i * step);
    }
}

template <class Word>
WENGERT_INLINE void scatter(char* to, const char* buffer, int64_t n, int64_t step) {
    const Word* from = reinterpret_cast<const Word*>(buffer);
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<Word*>(to + i * step) = from[i];
}

// A result of this many bytes is gone from the caches before something reads it. Written past them its lines are not
// read from memory first, a quarter to a third of the traffic; a block at a time, so that reading goes on meanwhile.
inline constexpr int64_t kStreamedBytes = int64_t{12} << 20;

WENGERT_INLINE void stream(char* to, const char* buffer, int64_t bytes) {
    int64_t i = 0;
#if defined(__SSE2__) && !defined(WENGERT_PORTABLE)
    for (; i + kLine <= bytes; i += kLine)
        for (int64_t k = i; k < i + kLine; k += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), *reinterpret_cast<const __m128i*>(buffer + k));
#endif
    __builtin_memcpy(to + i, buffer + i, static_cast<size_t>(bytes - i));
}
// Those writes come before whatever this thread writes next.
WENGERT_INLINE void end_streaming() {
#if defined(__SSE2__) && !defined(WENGERT_PORTABLE)
    _mm_sfence();
#endif
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

// Whether a dense output, the last array, of that many bytes is. One that is also an operand is in the caches anyway.
[[gnu::noinline]] inline bool is_streamed(char* const* args, int arrays, int64_t bytes) {
    const char* out = args[arrays - 1];
    for (int a = 0; a < arrays - 1; ++a)
        if (args[a] == out) return false;
    return bytes >= kStreamedBytes && reinterpret_cast<uintptr_t>(out) % kLine == 0;
}

// The last array is the output.
[[gnu::noinline]] inline void run_in_blocks(DenseRow row, char* const* args, int64_t n, const int64_t* steps,
                                            const int64_t* sizes, int arrays) {
    alignas(kLine) char buffers[kMaxBlockArrays][kBufferBytes];
    const int out = arrays - 1;
    int64_t largest = 1;
    for (int a = 0; a < arrays; ++a) largest = sizes[a] > largest ? sizes[a] : largest;
    const bool streamed = steps[out] == sizes[out] && is_streamed(args, arrays, n * sizes[out]);
    const int64_t most = streamed ? kStreamedBlock : kBufferBytes / largest;
    for (int64_t start = 0, length; start < n; start += length) {
        length = block_length(n - start, most);
        char* block[kMaxBlockArrays];
        for (int a = 0; a < arrays; ++a) {
            char* memory = args[a] + start * steps[a];
            const bool direct = steps[a] == sizes[a] && !(a == out && streamed);
            block[a] = direct ? memory : buffers[a];
            const bool filled = steps[a] == 0 && start != 0;  // by the first block, the longest
            if (a == out || direct || filled) continue;
            by_size(sizes[a], [&]<class Word>() __attribute__((always_inline)) {
                gather<Word>(buffers[a], memory, length, steps[a]);
            });
        }
        row(block, length);
        char* memory = args[out] + start * steps[out];
        if (streamed)
            stream(memory, buffers[out], length * sizes[out]);
        else if (steps[out] != sizes[out])
            by_size(sizes[out], [&]<class Word>() __attribute__((always_inline)) {
                scatter<Word>(memory, buffers[out], length, steps[out]);
            });
    }
    if (streamed) end_streaming();
}

// One copy for each number of arrays, not for each loop.
template <int arrays>
[[gnu::noinline]] void run_row(DenseRow row, char* const* args, int64_t n, const int64_t* steps, const int64_t* sizes) {
    bool dense = true;
    for (int a = 0; a < arrays; ++a) dense &= steps[a] == sizes[a];
    const int64_t bytes = n * sizes[arrays - 1];
    if (dense && (bytes < kStreamedBytes || !is_streamed(args, arrays, bytes)))
        row(args, n);
    else
        run_in_blocks(row, args, n, steps, sizes, arrays);
}

}  // namespace wengert::kernels::WENGERT_ISA
