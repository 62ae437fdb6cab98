// Transforms of a few points, in registers: butterflies. Each lane is a transform of its own.
//
// Radices 2, 4 and 8 are written out. Those of odd radix r take the sums t[k] = x[k] + x[r-k] and differences d[k] = x[k] -
// x[r-k]: of a pair of results y[q] and y[r-q], a = x[0] + sum of cos(2 pi k q / r) t[k] and b = sum of sin(2 pi k q / r) d[k]
// are common, and y = a -+ i b. That is half of the multiplications.
#pragma once

#include "backends/cpu/isa/fma.h"

namespace wengert::kernels::WENGERT_ISA {

template <class V>
struct Complex {
    V re, im;

    WENGERT_ALWAYS_INLINE friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    WENGERT_ALWAYS_INLINE friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
    WENGERT_ALWAYS_INLINE friend Complex operator*(Complex a, Complex b) {
        return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
    }
    WENGERT_ALWAYS_INLINE friend Complex conj(Complex a) { return {a.re, -a.im}; }
    WENGERT_ALWAYS_INLINE friend Complex times_i(Complex a) { return {-a.im, a.re}; }
    WENGERT_ALWAYS_INLINE friend Complex over_i(Complex a) { return {a.im, -a.re}; }
};
template <class T>
using Points = Complex<Vec<T>>;

template <class T>
WENGERT_ALWAYS_INLINE Points<T> splat_complex(const T* w) {
    return {splat(w[0]), splat(w[1])};
}

template <class T, int R>
struct Butterfly {  // R is odd
    static_assert(R % 2 == 1);
    WENGERT_ALWAYS_INLINE static void run(Points<T> (&x)[R], const T* roots) {
        constexpr int H = R / 2;
        Points<T> t[H], d[H], sum = x[0];
#pragma GCC unroll 16
        for (int k = 0; k < H; ++k) {
            t[k] = x[k + 1] + x[R - 1 - k];
            d[k] = x[k + 1] - x[R - 1 - k];
            sum = sum + t[k];
        }
#pragma GCC unroll 16
        for (int q = 1; q <= H; ++q) {
            Points<T> a = x[0], b{};
#pragma GCC unroll 16
            for (int k = 0; k < H; ++k) {
                const int at = (k + 1) * q % R;
                const Points<T> w = splat_complex(roots + 2 * at);
                a = {fma(w.re, t[k].re, a.re), fma(w.re, t[k].im, a.im)};
                b = k == 0 ? Points<T>{w.im * d[k].re, w.im * d[k].im}
                           : Points<T>{fma(w.im, d[k].re, b.re), fma(w.im, d[k].im, b.im)};
            }
            x[q] = a + over_i(b);
            x[R - q] = a - over_i(b);
        }
        x[0] = sum;
    }
};

template <class T>
struct Butterfly<T, 2> {
    WENGERT_ALWAYS_INLINE static void run(Points<T> (&x)[2], const T*) {
        const Points<T> a = x[0];
        x[0] = a + x[1];
        x[1] = a - x[1];
    }
};

template <class T>
WENGERT_ALWAYS_INLINE void four(Points<T>& x0, Points<T>& x1, Points<T>& x2, Points<T>& x3) {
    const Points<T> a = x0 + x2, b = x0 - x2, c = x1 + x3, d = over_i(x1 - x3);
    x0 = a + c;
    x1 = b + d;
    x2 = a - c;
    x3 = b - d;
}
template <class T>
struct Butterfly<T, 4> {
    WENGERT_ALWAYS_INLINE static void run(Points<T> (&x)[4], const T*) { four<T>(x[0], x[1], x[2], x[3]); }
};

template <class T>
struct Butterfly<T, 8> {
    WENGERT_ALWAYS_INLINE static void run(Points<T> (&x)[8], const T*) {
        const Vec<T> root = splat(static_cast<T>(0.70710678118654752440));
        four<T>(x[0], x[2], x[4], x[6]);
        four<T>(x[1], x[3], x[5], x[7]);
        const Points<T> odd[4] = {x[1],
                                  {(x[3].re + x[3].im) * root, (x[3].im - x[3].re) * root},
                                  over_i(x[5]),
                                  {(x[7].im - x[7].re) * root, -(x[7].re + x[7].im) * root}};
        const Points<T> even[4] = {x[0], x[2], x[4], x[6]};
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
            x[k] = even[k] + odd[k];
            x[k + 4] = even[k] - odd[k];
        }
    }
};

}  // namespace wengert::kernels::WENGERT_ISA
