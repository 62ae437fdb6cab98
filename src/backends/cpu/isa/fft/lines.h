// Between memory and a block of lines (fft/loops.h), whatever lies side by side in memory: the points of a line, the lines, or
// neither.
#pragma once

#include "backends/cpu/fft/loops.h"
#include "backends/cpu/isa/blocks.h"
#include "backends/cpu/isa/fft/butterflies.h"
#include "backends/cpu/isa/transpose.h"

namespace wengert::kernels::WENGERT_ISA {

template <class V, std::size_t... I>
WENGERT_ALWAYS_INLINE Complex<V> separated(V a, V b, std::index_sequence<I...>) {
    return {__builtin_shufflevector(a, b, (2 * static_cast<int>(I))...),
            __builtin_shufflevector(a, b, (2 * static_cast<int>(I) + 1)...)};
}
template <class V, std::size_t... I>
WENGERT_ALWAYS_INLINE void joined(Complex<V> x, V& a, V& b, std::index_sequence<I...>) {
    constexpr int L = sizeof...(I);
    a = __builtin_shufflevector(x.re, x.im, (static_cast<int>(I) / 2 + static_cast<int>(I) % 2 * L)...);
    b = __builtin_shufflevector(x.re, x.im, (static_cast<int>(I) / 2 + L / 2 + static_cast<int>(I) % 2 * L)...);
}
template <class V, std::size_t... I>
WENGERT_ALWAYS_INLINE V reversed(V a, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, a, (static_cast<int>(sizeof...(I)) - 1 - static_cast<int>(I))...);
}
template <class T>
using EachLane = std::make_index_sequence<kLanes<T>>;

// As many complex numbers, one behind the other, as a vector has lanes.
template <class T>
WENGERT_ALWAYS_INLINE Points<T> load_complex(const T* p) {
    return separated(load(p), load(p + kLanes<T>), EachLane<T>());
}
template <class T>
WENGERT_ALWAYS_INLINE void store_complex(T* p, Points<T> x) {
    Vec<T> a, b;
    joined(x, a, b, EachLane<T>());
    store(p, a);
    store(p + kLanes<T>, b);
}
// Those up to p, from the last to the first.
template <class T>
WENGERT_ALWAYS_INLINE Points<T> load_complex_reversed(const T* p) {
    const Points<T> x = load_complex(p - 2 * (kLanes<T> - 1));
    return {reversed(x.re, EachLane<T>()), reversed(x.im, EachLane<T>())};
}
template <class T>
WENGERT_ALWAYS_INLINE void store_complex_reversed(T* p, Points<T> x) {
    store_complex(p - 2 * (kLanes<T> - 1), Points<T>{reversed(x.re, EachLane<T>()), reversed(x.im, EachLane<T>())});
}

// f(i) for vectors of lanes that lie side by side, and 0 <= i < n is covered; the last one overlaps another.
template <class T, class F>
WENGERT_ALWAYS_INLINE void side_by_side(int64_t n, F f) {
    for (int64_t next = 0; next < n; next += kLanes<T>) f(next + kLanes<T> <= n ? next : n - kLanes<T>);
}

// Lines whose points lie one behind the other. Processors foresee one stream of addresses, not one for each line: the next block
// is asked for, and with `room` for lines that are one behind the other, they are first copied there.
template <class T>
void turn_lines(const T* from, int64_t step, int64_t size, int64_t lines, T* block, int64_t row, T* room) {
    constexpr int64_t kElements = kLine / sizeof(T);
    const bool dense = step == size;
    const T* next = from + lines * step;
    for (int64_t i = 0; i < (dense ? 1 : lines); ++i)
        for (int64_t k = 0; k < (dense ? lines : 1) * size; k += kElements)
            __builtin_prefetch(next + i * step + k, 0, 2);
    if (room && dense) {
        __builtin_memcpy(room, from, static_cast<size_t>(size * lines) * sizeof(T));
        from = room;
    }
    transpose(lines, size, from, step, block, row);
}

template <class T>
void gather(const T* from, FftSteps steps, int64_t points, int64_t lines, T* block, int64_t row, T* room) {
    if (steps.point == steps.parts) return turn_lines(from, steps.line, points * steps.parts, lines, block, row, room);
    const bool wide = steps.line == steps.parts && lines >= kLanes<T>;
    for (int64_t k = 0; k < points; ++k, from += steps.point, block += row * steps.parts) {
        if (!wide) {
            for (int part = 0; part < steps.parts; ++part)
                for (int64_t i = 0; i < lines; ++i) block[part * row + i] = from[i * steps.line + part];
        } else if (steps.parts == 1) {
            side_by_side<T>(lines, [&](int64_t i) { store(block + i, load(from + i)); });
        } else {
            side_by_side<T>(lines, [&](int64_t i) {
                const Points<T> x = load_complex(from + 2 * i);
                store(block + i, x.re);
                store(block + row + i, x.im);
            });
        }
    }
}

// Lines one behind the other, past the caches (isa/blocks.h): turned over in `room`, of 64 bytes more than they have.
template <class T>
void stream_lines(T* to, int64_t size, int64_t lines, const T* block, int64_t row, T* room) {
    const auto at = [](const T* p) { return reinterpret_cast<uintptr_t>(p) % kLine; };
    char* turned = reinterpret_cast<char*>(room) + (at(to) + kLine - at(room)) % kLine;
    transpose(size, lines, block, row, reinterpret_cast<T*>(turned), size);
    const int64_t bytes = size * lines * static_cast<int64_t>(sizeof(T));
    int64_t head = static_cast<int64_t>((kLine - at(to)) % kLine);
    if (head > bytes) head = bytes;
    __builtin_memcpy(to, turned, static_cast<size_t>(head));
    stream(reinterpret_cast<char*>(to) + head, turned + head, bytes - head);
}

template <class T>
void scatter(T* to, FftSteps steps, int64_t points, int64_t lines, const T* block, int64_t row, T* room) {
    const int64_t size = points * steps.parts;
    if (room && steps.point == steps.parts && steps.line == size)
        return stream_lines(to, size, lines, block, row, room);
    if (steps.point == steps.parts) return transpose(points * steps.parts, lines, block, row, to, steps.line);
    const bool wide = steps.line == steps.parts && lines >= kLanes<T>;
    for (int64_t k = 0; k < points; ++k, to += steps.point, block += row * steps.parts) {
        if (!wide) {
            for (int part = 0; part < steps.parts; ++part)
                for (int64_t i = 0; i < lines; ++i) to[i * steps.line + part] = block[part * row + i];
        } else if (steps.parts == 1) {
            side_by_side<T>(lines, [&](int64_t i) { store(to + i, load(block + i)); });
        } else {
            side_by_side<T>(lines, [&](int64_t i) {
                store_complex(to + 2 * i, Points<T>{load(block + i), load(block + row + i)});
            });
        }
    }
}

}  // namespace wengert::kernels::WENGERT_ISA
