// Loops of the normalisation layers over contiguous memory (see nn/normalize_loops.h).
#include <cmath>

#include "backends/cpu/isa/rows.h"
#include "backends/cpu/nn/normalize_loops.h"
#include "backends/cpu/scalar/arithmetic.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

// Calls f(start, width) for pieces of 0..n that fit a buffer.
template <class F>
WENGERT_ALWAYS_INLINE void pieces(int64_t n, F f) {
    for (int64_t i = 0; i < n; i += kBuffer) f(i, n - i < kBuffer ? n - i : kBuffer);
}

template <class T>
void norm_row(const T* __restrict in, const T* __restrict weight, const T* __restrict bias, T* __restrict out, T mean,
              T rstd, int64_t n) {
    if (weight && bias) {
        for (int64_t i = 0; i < n; ++i) out[i] = (in[i] - mean) * rstd * weight[i] + bias[i];
    } else if (weight) {
        for (int64_t i = 0; i < n; ++i) out[i] = (in[i] - mean) * rstd * weight[i];
    } else if (bias) {
        for (int64_t i = 0; i < n; ++i) out[i] = (in[i] - mean) * rstd + bias[i];
    } else {
        for (int64_t i = 0; i < n; ++i) out[i] = (in[i] - mean) * rstd;
    }
}

// 1 / sqrt(mean((x - center)^2) + eps) where squares leave the range of T: of double, scaled by a power of two.
template <class T>
double careful_rstd(const T* in, T center, int64_t n, double eps) {
    double largest = 0, total = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double d = static_cast<double>(in[i]) - static_cast<double>(center);
        largest = larger(largest, absolute(d));
    }
    if (!(largest > 0 && largest < highest<double>)) return 1 / ::sqrt(largest + eps);
    int exponent = 0;
    ::frexp(largest, &exponent);
    const double scale = ::ldexp(1.0, exponent > -1022 ? -exponent : 1022);
    for (int64_t i = 0; i < n; ++i) {
        const double d = (static_cast<double>(in[i]) - static_cast<double>(center)) * scale;
        total += d * d;
    }
    return 1 / ::hypot(::sqrt(total / static_cast<double>(n)) / scale, ::sqrt(eps));
}

struct RowMoments {
    double mean, variance;
};
// Again, in double and from the first element: of numbers that are equal the mean is that number, the variance 0.
template <class T>
RowMoments careful_moments(const T* in, int64_t n) {
    const double first = static_cast<double>(in[0]), count = static_cast<double>(n);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double d = static_cast<double>(in[i]) - first;
        sum += d;
        squares += d * d;
    }
    const double variance = (squares - sum * (sum / count)) / count;
    return {first + sum / count, variance < 0 ? 0 : variance};
}

template <class T>
void norm_rows(const T* in, const T* weight, const T* bias, T* out, T* mean, T* rstd, int64_t rows, int64_t n,
               double eps, bool center) {
    const double count = static_cast<double>(n);
    constexpr double least = static_cast<double>(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
    for (int64_t r = 0; r < rows; ++r, in += n, out += n) {
        T m = center ? static_cast<T>(row_sum(in, n) / count) : T{0};
        double variance = (center ? row_squared_distance(in, m, n) : row<SquareSumOp<T>>(in, n, 0.0)) / count;
        // Distances from the mean that are no greater than its own rounding.
        const double rounding = (64 * static_cast<double>(std::numeric_limits<T>::epsilon()) +
                                 count * std::numeric_limits<double>::epsilon()) *
                                absolute(static_cast<double>(m));
        if (center && n > 0 && !(variance > rounding * rounding)) {
            const RowMoments again = careful_moments(in, n);
            m = static_cast<T>(again.mean);
            variance = again.variance;
        }
        T s = static_cast<T>(1.0 / ::sqrt(variance + eps));
        if (!(variance + eps > least && variance < highest<double>)) s = static_cast<T>(careful_rstd(in, m, n, eps));
        norm_row(in, weight, bias, out, m, s, n);
        if (center) mean[r] = m;
        rstd[r] = s;
    }
}

// Sums over rows run in T for kRows rows and are then moved to double.
template <class T>
void move_sums(T* __restrict from, double* __restrict to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        to[i] += static_cast<double>(from[i]);
        from[i] = 0;
    }
}

// With h = (x - mean) * rstd and t = grad * weight:
//     grad_in = rstd * (t - [center] mean(t) - h * mean(t * h)),  grad_weight = sum grad * h,  grad_bias = sum grad
template <class T>
struct RowBackward {
    const T *weight, *grad, *in;  // weight may be null, sums too
    T mean, rstd;
    T *sum_weight, *sum_bias;
    double sum_t = 0, sum_th = 0;

    // For the vector or the element at i.
    template <class V, class Load, class Store>
    WENGERT_ALWAYS_INLINE void step(int64_t i, Load load, Store store, V& of_t, V& of_th) const {
        const V g = load(grad + i), h = (load(in + i) - mean) * rstd, t = weight ? g * load(weight + i) : g;
        if (sum_weight) store(sum_weight + i, load(sum_weight + i) + g * h);
        if (sum_bias) store(sum_bias + i, load(sum_bias + i) + g);
        of_t += t;
        of_th += t * h;
    }
    // No more than kSteps bundles of lanes.
    WENGERT_ALWAYS_INLINE void add_piece(int64_t begin, int64_t end) {
        using L = Lanes<T>;
        const auto plus = [](auto x, auto y) { return x + y; };
        L lanes_t(T{0}), lanes_th(T{0});
        int64_t i = begin;
        for (; i + L::kCount <= end; i += L::kCount)
#pragma GCC unroll 16
            for (int k = 0; k < L::kVectors; ++k)
                step(
                    i + k * L::kWidth, [](const T* p) { return L::load(p); }, [](T* p, auto x) { L::store(p, x); },
                    lanes_t.v[k], lanes_th.v[k]);
        T total_t = 0, total_th = 0;
        if (i > begin) {
            lanes_t.fold(&total_t, plus);
            lanes_th.fold(&total_th, plus);
        }
        T rest_t = 0, rest_th = 0;
        for (; i < end; ++i) step(i, [](const T* p) { return *p; }, [](T* p, T x) { *p = x; }, rest_t, rest_th);
        sum_t += static_cast<double>(total_t) + static_cast<double>(rest_t);
        sum_th += static_cast<double>(total_th) + static_cast<double>(rest_th);
    }
};

template <class T>
bool norm_rows_backward(const T* grad, const T* in, const T* weight, const T* mean, const T* rstd, T* grad_in,
                        double* grad_weight, double* grad_bias, T* partial, int64_t rows, int64_t n) {
    const double count = static_cast<double>(n);
    T* part_weight = partial;
    T* part_bias = partial + n;
    bool finite = true;
    for (int64_t r = 0; r < rows; ++r, grad += n, in += n) {
        const T m = mean ? mean[r] : T{0}, s = rstd[r];
        RowBackward<T> row{
            weight, grad, in, m, s, grad_weight ? part_weight : nullptr, grad_bias ? part_bias : nullptr};
        pieces(n, [&](int64_t start, int64_t width) { row.add_piece(start, start + width); });
        if (!mean || !grad_in) row.sum_t = 0;
        if (!grad_in) row.sum_th = 0;
        finite &= scalar::isfinite(s) & scalar::isfinite(row.sum_t + row.sum_th);
        if ((r + 1) % kRows == 0 || r + 1 == rows) {
            if (grad_weight) move_sums(part_weight, grad_weight, n);
            if (grad_bias) move_sums(part_bias, grad_bias, n);
        }
        if (!grad_in) continue;
        const T mean_t = static_cast<T>(row.sum_t / count), mean_th = static_cast<T>(row.sum_th / count);
        T* __restrict o = grad_in + r * n;
        if (weight) {
            for (int64_t i = 0; i < n; ++i) o[i] = s * (grad[i] * weight[i] - mean_t - (in[i] - m) * s * mean_th);
        } else {
            for (int64_t i = 0; i < n; ++i) o[i] = s * (grad[i] - mean_t - (in[i] - m) * s * mean_th);
        }
    }
    return finite;
}

// Coefficients of one batch element.
template <class T>
WENGERT_ALWAYS_INLINE const T* of_sample(const T* p, int64_t sample, int64_t channels, bool per_sample) {
    return per_sample ? p + sample * channels : p;
}

// The mean is taken off first: x * scale - mean * scale would lose what a large mean leaves of their difference.
template <class T>
void affine(const T* in, const T* mean, const T* scale, const T* shift, T* out, int64_t batch, int64_t channels,
            int64_t space, bool per_sample) {
    for (int64_t b = 0; b < batch; ++b) {
        const T* __restrict m = of_sample(mean, b, channels, per_sample);
        const T* __restrict a = of_sample(scale, b, channels, per_sample);
        const T* __restrict d = of_sample(shift, b, channels, per_sample);
        const T* __restrict x = in + b * channels * space;
        T* __restrict o = out + b * channels * space;
        if (space == 1) {
            for (int64_t c = 0; c < channels; ++c) o[c] = (x[c] - m[c]) * a[c] + d[c];
            continue;
        }
        for (int64_t c = 0; c < channels; ++c, x += space, o += space) {
            const T mc = m[c], ac = a[c], dc = d[c];
            for (int64_t i = 0; i < space; ++i) o[i] = (x[i] - mc) * ac + dc;
        }
    }
}

template <class T>
void combine(const T* grad, const T* in, const T* mean, const T* weight, const T* a, const T* b, const T* rstd, T* out,
             int64_t batch, int64_t channels, int64_t space, bool per_sample) {
    for (int64_t s = 0; s < batch; ++s) {
        const T* __restrict ms = of_sample(mean, s, channels, per_sample);
        const T* __restrict ws = of_sample(weight, s, channels, per_sample);
        const T* __restrict as = of_sample(a, s, channels, per_sample);
        const T* __restrict bs = of_sample(b, s, channels, per_sample);
        const T* __restrict rs = of_sample(rstd, s, channels, per_sample);
        const T* __restrict g = grad + s * channels * space;
        const T* __restrict x = in + s * channels * space;
        T* __restrict o = out + s * channels * space;
        if (space == 1) {
            for (int64_t c = 0; c < channels; ++c) o[c] = (g[c] * ws[c] + (x[c] - ms[c]) * as[c] + bs[c]) * rs[c];
            continue;
        }
        for (int64_t c = 0; c < channels; ++c, g += space, x += space, o += space) {
            const T mc = ms[c], wc = ws[c], ac = as[c], bc = bs[c], rc = rs[c];
            for (int64_t i = 0; i < space; ++i) o[i] = (g[i] * wc + (x[i] - mc) * ac + bc) * rc;
        }
    }
}

template <class T>
void sums(const T* grad, const T* in, const T* mean, double* sums, double* dots, int64_t batch, int64_t channels,
          int64_t space, bool per_sample) {
    for (int64_t c = 0; c < (per_sample ? batch : 1) * channels; ++c) sums[c] = dots[c] = 0;
    for (int64_t b = 0; b < batch; ++b, grad += channels * space, in += channels * space) {
        const T* __restrict m = of_sample(mean, b, channels, per_sample);
        double* __restrict s = per_sample ? sums + b * channels : sums;
        double* __restrict d = per_sample ? dots + b * channels : dots;
        if (space == 1) {
            for (int64_t c = 0; c < channels; ++c) {
                s[c] += static_cast<double>(grad[c]);
                d[c] += static_cast<double>(grad[c] * (in[c] - m[c]));
            }
            continue;
        }
        for (int64_t c = 0; c < channels; ++c) {
            const T* __restrict g = grad + c * space;
            const T* __restrict x = in + c * space;
            s[c] += row_sum(g, space);
            pieces(space, [&](int64_t start, int64_t width) {
                T centered[kBuffer];
                for (int64_t i = 0; i < width; ++i) centered[i] = x[start + i] - m[c];
                d[c] += row_dot(g + start, centered, width);
            });
        }
    }
}

template <class T>
constexpr NormLoops<T> loops() {
    return {norm_rows<T>, norm_rows_backward<T>, affine<T>, sums<T>, combine<T>};
}

}  // namespace

extern const NormTable norm_table;
constinit const NormTable norm_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
