// Fourier transforms, once per instruction set (see fft/loops.h).
//
// A real line of n = 2h points is transformed as h complex numbers x[2j] + i x[2j + 1]. With Z their transform and w the root of
// unity of n points, e = Z[k] + conj Z[h-k] and o = -i (Z[k] - conj Z[h-k]) are twice the transforms of the even and of the odd
// points, 2 X[k] = e + w^k o, and 2 X[h-k] = conj(e - w^k o).
#include "backends/cpu/isa/fft/lines.h"
#include "backends/cpu/isa/fft/stages.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T>
void twist(T* block, const T* factors, int64_t step, int64_t points, int64_t width, bool swapped) {
    const Halves<T> at{swapped ? width : 0, swapped ? 0 : width}, of_factors{0, step};
    for (int64_t k = 0; k < points; ++k, block += 2 * width, factors += 2 * step)
        for (int64_t j = 0; j < width; j += kLanes<T>)
            at.store(block + j, at.load(block + j) * of_factors.load(factors + j));
}

template <class T>
void weigh(T* block, const T* re, const T* im, int64_t step, int64_t points, int64_t width, bool swapped) {
    const Halves<T> at{swapped ? width : 0, swapped ? 0 : width};
    for (int64_t k = 0; k < points; ++k, block += 2 * width) {
        const Points<T> factor{splat(re[k * step]), splat(im[k * step])};
        for (int64_t j = 0; j < width; j += kLanes<T>) at.store(block + j, at.load(block + j) * factor);
    }
}

// From Z[k] and Z[h-k]: 2 X[k] and 2 X[h-k]. A number may be a vector.
template <class C>
WENGERT_ALWAYS_INLINE void untangle_pair(C& x, C& y, C w) {
    const C e = x + conj(y), wo = w * over_i(x - conj(y));
    x = e + wo;
    y = conj(e - wo);
}
template <class C>
WENGERT_ALWAYS_INLINE void tangle_pair(C& x, C& y, C w) {
    const C e = x + conj(y), p = conj(w) * (x - conj(y));
    x = e + times_i(p);
    y = conj(e) + times_i(conj(p));
}

template <class T>
void untangle(const T* in, T* out, const T* roots, int64_t half, int64_t width, bool all) {
    const Halves<T> at{0, width};
    const int64_t point = 2 * width;
    for (int64_t j = 0; j < width; j += kLanes<T>, in += kLanes<T>, out += kLanes<T>) {
        const Points<T> z = at.load(in);
        const Vec<T> two = splat(T(2)), zero{};
        at.store(out, {two * (z.re + z.im), zero});
        at.store(out + half * point, {two * (z.re - z.im), zero});
        for (int64_t k = 1; k <= half - k; ++k) {
            Points<T> x = at.load(in + k * point), y = at.load(in + (half - k) * point);
            untangle_pair(x, y, splat_complex(roots + 2 * k));
            at.store(out + k * point, x);
            at.store(out + (half - k) * point, y);
            if (!all) continue;
            at.store(out + (2 * half - k) * point, conj(x));
            at.store(out + (half + k) * point, conj(y));
        }
    }
}

template <class T>
void tangle(const T* in, T* out, const T* roots, int64_t half, int64_t width) {
    const Halves<T> at{0, width};
    const int64_t point = 2 * width;
    for (int64_t j = 0; j < width; j += kLanes<T>, in += kLanes<T>, out += kLanes<T>) {
        const Vec<T> first = at.load(in).re, last = at.load(in + half * point).re;
        at.store(out, {first + last, first - last});
        for (int64_t k = 1; k <= half - k; ++k) {
            Points<T> x = at.load(in + k * point), y = at.load(in + (half - k) * point);
            tangle_pair(x, y, splat_complex(roots + 2 * k));
            at.store(out + k * point, x);
            at.store(out + (half - k) * point, y);
        }
    }
}

template <class T>
void mirror(T* block, int64_t n, int64_t width) {
    const Halves<T> at{0, width};
    for (int64_t k = n / 2 + 1; k < n; ++k)
        for (int64_t j = 0; j < width; j += kLanes<T>)
            at.store(block + 2 * k * width + j, conj(at.load(block + 2 * (n - k) * width + j)));
}

// pair(x[k], x[half - k], roots[k]) for 0 < k <= half - k.
template <class T, class F>
WENGERT_ALWAYS_INLINE void for_each_pair(const T* in, T* out, const T* roots, int64_t half, F pair) {
    int64_t k = 1;
    for (; 2 * (k + kLanes<T>) <= half; k += kLanes<T>) {
        Points<T> x = load_complex(in + 2 * k), y = load_complex_reversed(in + 2 * (half - k));
        pair(x, y, load_complex(roots + 2 * k));
        store_complex(out + 2 * k, x);
        store_complex_reversed(out + 2 * (half - k), y);
    }
    for (; k <= half - k; ++k) {
        const int64_t other = half - k;
        Points<T> x = splat_complex(in + 2 * k), y = splat_complex(in + 2 * other);
        pair(x, y, splat_complex(roots + 2 * k));
        out[2 * k] = x.re[0];
        out[2 * k + 1] = x.im[0];
        out[2 * other] = y.re[0];
        out[2 * other + 1] = y.im[0];
    }
}

template <class T>
void untangle_line(const T* in, T* out, const T* roots, int64_t half) {
    const T re = in[0], im = in[1];
    for_each_pair(in, out, roots, half,
                  [](auto& x, auto& y, auto w) __attribute__((always_inline)) { untangle_pair(x, y, w); });
    out[0] = 2 * (re + im);
    out[2 * half] = 2 * (re - im);
    out[1] = out[2 * half + 1] = 0;
}

template <class T>
void tangle_line(const T* in, T* out, const T* roots, int64_t half) {
    const T first = in[0], last = in[2 * half];
    for_each_pair(in, out, roots, half,
                  [](auto& x, auto& y, auto w) __attribute__((always_inline)) { tangle_pair(x, y, w); });
    out[0] = first + last;
    out[1] = first - last;
}

template <class T>
void multiply(const T* x, const T* y, T* out, int64_t n, bool swapped) {
    const auto exchanged = [=](Points<T> z)
                               __attribute__((always_inline)) { return swapped ? Points<T>{z.im, z.re} : z; };
    const auto product = [=](Points<T> a, Points<T> b)
                             __attribute__((always_inline)) { return exchanged(exchanged(a) * b); };
    int64_t k = 0;
    for (; k + kLanes<T> <= n; k += kLanes<T>)
        store_complex(out + 2 * k, product(load_complex(x + 2 * k), load_complex(y + 2 * k)));
    for (; k < n; ++k) {
        const Points<T> z = product(splat_complex(x + 2 * k), splat_complex(y + 2 * k));
        out[2 * k] = z.re[0];
        out[2 * k + 1] = z.im[0];
    }
}

template <class T>
constexpr FftLoops<T> loops() {
    return {kLanes<T>,   stage<T>,  gather<T>, scatter<T>,       twist<T>,       weigh<T>,
            untangle<T>, tangle<T>, mirror<T>, untangle_line<T>, tangle_line<T>, multiply<T>};
}

}  // namespace

extern const FftTable fft_table;
constinit const FftTable fft_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
