// The stages of a transform over a block of lines, after Stockham: each reads one buffer and writes another, such that the last
// leaves the points in order (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7).
//
// With s points done and m left, stage r takes the points s (p + m k) + q, k < r, and leaves y[k] w^(p k) at s (r p + k) + q.
#pragma once

#include "backends/cpu/fft/loops.h"
#include "backends/cpu/isa/fft/butterflies.h"

namespace wengert::kernels::WENGERT_ISA {

// Where a vector of a point lies.
template <class T>
struct Halves {
    int64_t re, im;

    WENGERT_ALWAYS_INLINE Points<T> load(const T* p) const {
        return {WENGERT_ISA::load(p + re), WENGERT_ISA::load(p + im)};
    }
    WENGERT_ALWAYS_INLINE void store(T* p, Points<T> x) const {
        WENGERT_ISA::store(p + re, x.re);
        WENGERT_ISA::store(p + im, x.im);
    }
};

// f(in, out, twiddles) for every vector of points of the stage.
template <class T, class F>
WENGERT_ALWAYS_INLINE void for_each_vector(const FftStage<T>& s, const T* in, T* out, int64_t width, F f) {
    const int64_t point = 2 * width;
    for (int64_t p = 0; p < s.rest; ++p, out += (s.radix - 1) * s.done * point) {
        const T* w = s.twiddles + 2 * p * (s.radix - 1);
        for (int64_t q = 0; q < s.done; ++q, in += point, out += point)
            for (int64_t j = 0; j < width; j += kLanes<T>) f(in + j, out + j, w);
    }
}

template <class T, int R, bool kLast>
void stage_of(const FftStage<T>& s, const T* in, T* out, int64_t width, bool swapped, T scale) {
    const Halves<T> at{swapped ? width : 0, swapped ? 0 : width};
    const int64_t in_step = 2 * width * s.done * s.rest, out_step = 2 * width * s.done;
    for_each_vector<T>(s, in, out, width, [&](const T* from, T* to, const T* w) __attribute__((always_inline)) {
        Points<T> x[R];
#pragma GCC unroll 16
        for (int k = 0; k < R; ++k) x[k] = at.load(from + k * in_step);
        Butterfly<T, R>::run(x, s.roots);
        if constexpr (kLast) {
#pragma GCC unroll 16
            for (int k = 0; k < R; ++k) at.store(to + k * out_step, {x[k].re * splat(scale), x[k].im * splat(scale)});
        } else {
            at.store(to, x[0]);
#pragma GCC unroll 16
            for (int k = 1; k < R; ++k) at.store(to + k * out_step, x[k] * splat_complex(w + 2 * (k - 1)));
        }
    });
}

// Any odd radix, by the sums of Butterfly; two pairs of results at a time, for which sums and differences are read once.
template <class T>
void stage_of_odd(const FftStage<T>& s, const T* in, T* out, int64_t width, bool swapped, T scale) {
    const Halves<T> at{swapped ? width : 0, swapped ? 0 : width};
    const int64_t r = s.radix, half = r / 2;
    const int64_t in_step = 2 * width * s.done * s.rest, out_step = 2 * width * s.done;
    Points<T> t[kLargestRadix / 2 + 1], d[kLargestRadix / 2 + 1];
    for_each_vector<T>(s, in, out, width, [&](const T* from, T* to, const T* w) __attribute__((always_inline)) {
        const auto give = [&](int64_t k, Points<T> y) __attribute__((always_inline)) {
            if (s.rest == 1)
                y = {y.re * splat(scale), y.im * splat(scale)};
            else if (k > 0)
                y = y * splat_complex(w + 2 * (k - 1));
            at.store(to + k * out_step, y);
        };
        const Points<T> first = at.load(from);
        Points<T> sum = first;
        for (int64_t k = 1; k <= half; ++k) {
            const Points<T> x = at.load(from + k * in_step), y = at.load(from + (r - k) * in_step);
            t[k] = x + y;
            d[k] = x - y;
            sum = sum + t[k];
        }
        give(0, sum);
        for (int64_t q = 1; q <= half; q += 2) {
            const int64_t other = q < half ? q + 1 : q;
            Points<T> a = first, b{}, a2 = first, b2{};
            int64_t i = 0, j = 0;
            for (int64_t k = 1; k <= half; ++k) {
                if ((i += q) >= r) i -= r;
                if ((j += other) >= r) j -= r;
                const Points<T> v = splat_complex(s.roots + 2 * i), u = splat_complex(s.roots + 2 * j);
                a = {fma(v.re, t[k].re, a.re), fma(v.re, t[k].im, a.im)};
                b = {fma(v.im, d[k].re, b.re), fma(v.im, d[k].im, b.im)};
                a2 = {fma(u.re, t[k].re, a2.re), fma(u.re, t[k].im, a2.im)};
                b2 = {fma(u.im, d[k].re, b2.re), fma(u.im, d[k].im, b2.im)};
            }
            give(q, a + over_i(b));
            give(r - q, a - over_i(b));
            if (other == q) break;
            give(other, a2 + over_i(b2));
            give(r - other, a2 - over_i(b2));
        }
    });
}

template <class T, int R>
void stage_of(const FftStage<T>& s, const T* in, T* out, int64_t width, bool swapped, T scale) {
    return s.rest == 1 ? stage_of<T, R, true>(s, in, out, width, swapped, scale)
                       : stage_of<T, R, false>(s, in, out, width, swapped, scale);
}

template <class T>
void stage(const FftStage<T>& s, const T* in, T* out, int64_t width, bool swapped, T scale) {
    switch (s.radix) {
        case 2:
            return stage_of<T, 2>(s, in, out, width, swapped, scale);
        case 3:
            return stage_of<T, 3>(s, in, out, width, swapped, scale);
        case 4:
            return stage_of<T, 4>(s, in, out, width, swapped, scale);
        case 5:
            return stage_of<T, 5>(s, in, out, width, swapped, scale);
        case 7:
            return stage_of<T, 7>(s, in, out, width, swapped, scale);
        case 8:
            return stage_of<T, 8>(s, in, out, width, swapped, scale);
        case 11:
            return stage_of<T, 11>(s, in, out, width, swapped, scale);
        case 13:
            return stage_of<T, 13>(s, in, out, width, swapped, scale);
        default:
            return stage_of_odd<T>(s, in, out, width, swapped, scale);
    }
}

}  // namespace wengert::kernels::WENGERT_ISA
