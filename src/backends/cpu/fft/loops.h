// The loops of Fourier transforms, compiled per instruction set (isa/fft/loops.cpp).
//
// They work on a block of lines: [points][2][width], the real parts of a point of all lines, then the imaginary parts. So
// whatever a vector holds belongs to as many lines, all of which do the same, and no loop ever looks across its lanes. Only
// `gather` and `scatter`, between the block and memory, exchange them. `width` is a multiple of `lanes`.
//
// All compute the forward transform. The other direction is the same with the real and the imaginary parts exchanged, before
// and after: loops that are `swapped` take the second half of a point for the real parts.
#pragma once

#include <cstdint>

namespace wengert::kernels {

// One stage of a transform of n = radix * rest * done points, where `done` is the product of the radices before.
template <class T>
struct FftStage {
    int64_t radix, rest, done;
    const T* twiddles;  // [rest][radix - 1] complex numbers: w^(k p), w being the root of unity of radix * rest points
    const T* roots;     // of odd radices, [radix]: cosine and sine of 2 pi k / radix
};

// Points in memory. A complex number takes two elements of T, a real one takes one; steps are in elements.
struct FftSteps {
    int64_t line, point;
    int parts;  // elements of a point
};

template <class T>
struct FftLoops {
    int64_t lanes;
    // The last stage, that without rest, multiplies with `scale`.
    void (*stage)(const FftStage<T>&, const T* in, T* out, int64_t width, bool swapped, T scale);
    // Rows of the block, one for each part of each point, `row` elements apart, from so many lines and back. `room`, if
    // given, is for as many elements and 64 bytes more: lines that are one behind the other then go past the caches.
    void (*gather)(const T* from, FftSteps, int64_t points, int64_t lines, T* block, int64_t row, T* room);
    void (*scatter)(T* to, FftSteps, int64_t points, int64_t lines, const T* block, int64_t row, T* room);
    // block[k] *= factors[k], factors being [points][2][step].
    void (*twist)(T* block, const T* factors, int64_t step, int64_t points, int64_t width, bool swapped);
    // block[k] *= re[k step] + i im[k step], for all lines.
    void (*weigh)(T* block, const T* re, const T* im, int64_t step, int64_t points, int64_t width, bool swapped);
    // Twice the transform of n = 2 half real points from that of the complex numbers x[2j] + i x[2j + 1], and the
    // reverse; roots [half / 2 + 1]. The first `half + 1` points, or all.
    void (*untangle)(const T* in, T* out, const T* roots, int64_t half, int64_t width, bool all);
    void (*tangle)(const T* in, T* out, const T* roots, int64_t half, int64_t width);
    // The points from half + 1 on of n, conjugates of those before.
    void (*mirror)(T* block, int64_t n, int64_t width);
    // The first two of one line in memory, [half] and [half + 1] complex numbers one behind the other.
    void (*untangle_line)(const T* in, T* out, const T* roots, int64_t half);
    void (*tangle_line)(const T* in, T* out, const T* roots, int64_t half);
    // out[k] = x[k] y[k], complex numbers one behind the other; swapped: those of x and of out.
    void (*multiply)(const T* x, const T* y, T* out, int64_t n, bool swapped);
};

struct FftTable {
    FftLoops<float> of_float;
    FftLoops<double> of_double;

    template <class T>
    const FftLoops<T>& of() const noexcept {
        if constexpr (sizeof(T) == sizeof(float))
            return of_float;
        else
            return of_double;
    }
};
const FftTable& fft_table();

// Up to this one, sums over all points of an odd radix cost no more than a convolution.
inline constexpr int64_t kLargestRadix = 101;

}  // namespace wengert::kernels
