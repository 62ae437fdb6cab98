// Softmax along contiguous rows (inner 1), or along n across kSweep neighbouring columns at a time.
//
// Far apart, one element has almost all of the probability, and what the others have is lost beside it: log(1 + 4e-18) is
// 0, and so is the gradient's (1 - p) p. No row can have two probabilities above 1/2, so a row that has one (it
// `dominates`) gets a second look while it is in the cache: logarithms are log1p of what the others have, gradients are
// measured from that of the dominant element, which leaves differences that do not cancel.
#include "backends/cpu/nn/softmax_loops.h"
#include "backends/cpu/isa/libm.h"
#include "backends/cpu/isa/rows.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int64_t kSweep = 512;
constexpr int64_t kTogether = 16;   // rows whose logarithms are taken together,
constexpr int64_t kCached = 16384;  // if they have no more elements than this: they are read again afterwards
constexpr double kDominant = 0.5;   // a probability above it
constexpr double kLogDominant = -0.69314718055994531;  // its logarithm
constexpr double kFewOthers = 1.5;  // below it, exponentials measured from the greatest element have sums of 1 + little

// The limit where elements are infinite: one alone has all of the probability, of several none is known to have more.
template <class T, bool kLog>
void infinite_row(const T* in, T* out, int64_t n, int64_t step) {
    int64_t infinite = 0;
    bool nan = false;
    for (int64_t i = 0; i < n; ++i) {
        infinite += in[i * step] == highest<T>;
        nan |= in[i * step] != in[i * step];
    }
    const T certain = kLog ? T{0} : T{1}, impossible = kLog ? lowest<T> : T{0};
    for (int64_t i = 0; i < n; ++i)
        out[i * step] = nan || infinite > 1          ? std::numeric_limits<T>::quiet_NaN()
                        : in[i * step] == highest<T> ? certain
                                                     : impossible;
}

template <class T>
void softmax_row(const T* __restrict in, T* __restrict out, int64_t n) {
    const T largest = row<MaxOp<T>>(in, n, lowest<T>);
    if (!(largest < highest<T>)) return infinite_row<T, false>(in, out, n, 1);
    for (int64_t i = 0; i < n; ++i) out[i] = vector_exp(in[i] - largest);
    const T scale = static_cast<T>(1.0 / row_sum(out, n));
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
}

// The sum of exp(in - largest) without those that are 1 and counted in *ones: all of them, where that may matter.
template <class T>
WENGERT_ALWAYS_INLINE double exponentials(const T* in, T largest, int64_t n, double* ones) {
    double total = 0;
    for (int64_t i0 = 0; i0 < n; i0 += kBuffer) {
        T buffer[kBuffer];
        int64_t width = n - i0 < kBuffer ? n - i0 : kBuffer;
        for (int64_t i = 0; i < width; ++i) buffer[i] = vector_exp(in[i0 + i] - largest);
        double sum = row_sum(buffer, width);
        if (sum >= 1 && sum < kFewOthers) {
            for (int64_t i = 0; i < width; ++i) {
                *ones += buffer[i] == 1;
                buffer[i] = buffer[i] == 1 ? T{0} : buffer[i];
            }
            sum = row_sum(buffer, width);
        }
        total += sum;
    }
    return total;
}

// rows <= kTogether: their logarithms are one call.
template <class T>
void log_softmax_rows(const T* __restrict in, T* __restrict out, int64_t rows, int64_t n) {
    T largest[kTogether];
    double total[kTogether], ones[kTogether] = {}, logs[kTogether];
    for (int64_t r = 0; r < rows; ++r) largest[r] = row<MaxOp<T>>(in + r * n, n, lowest<T>);
    for (int64_t r = 0; r < rows; ++r)
        total[r] = largest[r] < highest<T> ? exponentials(in + r * n, largest[r], n, &ones[r]) : 1;
    for (int64_t r = rows; r < kTogether; ++r) total[r] = 1;
    for (int64_t r = 0; r < kTogether; ++r) logs[r] = ::log(total[r]);
    for (int64_t r = 0; r < rows; ++r, in += n, out += n) {
        if (!(largest[r] < highest<T>)) {
            infinite_row<T, true>(in, out, n, 1);
            continue;
        }
        const T m = largest[r], log_total = static_cast<T>(ones[r] > 0 ? ::log1p(total[r] + (ones[r] - 1)) : logs[r]);
        for (int64_t i = 0; i < n; ++i) out[i] = (in[i] - m) - log_total;
    }
}

// The sum of grad * result, and the greatest result.
template <class T>
WENGERT_ALWAYS_INLINE double row_dot_and_greatest(const T* grad, const T* result, int64_t n, T* greatest) {
    using L = Lanes<T>;
    L best(T{0});
    double total = sum_in_lanes<T>(n / L::kCount, [&](L& lanes, int64_t s) {
#pragma GCC unroll 16
        for (int k = 0; k < L::kVectors; ++k) {
            const int64_t at = s * L::kCount + k * L::kWidth;
            const auto r = L::load(result + at);
            lanes.v[k] += L::load(grad + at) * r;
            best.v[k] = r > best.v[k] ? r : best.v[k];
        }
    });
    best.fold(greatest, [](auto a, auto b) { return a > b ? a : b; });
    T rest = 0;
    for (int64_t i = n / L::kCount * L::kCount; i < n; ++i) {
        rest += grad[i] * result[i];
        *greatest = result[i] > *greatest ? result[i] : *greatest;
    }
    return total + static_cast<double>(rest);
}

// The sum of (grad - center) * result
template <class T>
WENGERT_ALWAYS_INLINE double row_dot_from(const T* grad, const T* result, T center, int64_t n) {
    using L = Lanes<T>;
    double total = sum_in_lanes<T>(n / L::kCount, [=](L& lanes, int64_t s) {
#pragma GCC unroll 16
        for (int k = 0; k < L::kVectors; ++k) {
            const int64_t at = s * L::kCount + k * L::kWidth;
            lanes.v[k] += (L::load(grad + at) - center) * L::load(result + at);
        }
    });
    T rest = 0;
    for (int64_t i = n / L::kCount * L::kCount; i < n; ++i) rest += (grad[i] - center) * result[i];
    return total + static_cast<double>(rest);
}

template <class T>
void softmax_backward_row(const T* __restrict grad, const T* __restrict result, T* __restrict out, int64_t n) {
    T greatest = 0, center = 0;
    T dot = static_cast<T>(row_dot_and_greatest(grad, result, n, &greatest));
    if (greatest > static_cast<T>(kDominant)) {
        int64_t at = 0;
        while (result[at] != greatest) ++at;
        if (absolute(grad[at]) < highest<T>) {
            center = grad[at];
            dot = static_cast<T>(row_dot_from(grad, result, center, n));
        }
    }
    for (int64_t i = 0; i < n; ++i) out[i] = ((grad[i] - center) - dot) * result[i];
}

// grad (1 - p) - p * (the sum of the others' grad), for a dominant p = exp(result)
template <class T>
T dominant_gradient(T grad, T result, double others) {
    const double r = static_cast<double>(result);
    return static_cast<T>(-static_cast<double>(grad) * ::expm1(r) - ::exp(r) * others);
}

template <class T>
void log_softmax_backward_row(const T* __restrict grad, const T* __restrict result, T* __restrict out, int64_t n) {
    const T total = static_cast<T>(row_sum(grad, n));
    constexpr T dominant = static_cast<T>(kLogDominant);
    int dominates = 0;
    for (int64_t i = 0; i < n; ++i) {
        out[i] = grad[i] - vector_exp(result[i]) * total;
        dominates |= result[i] > dominant;
    }
    if (!dominates) return;
    int64_t at = 0;
    while (!(result[at] > dominant)) ++at;
    out[at] = dominant_gradient(grad[at], result[at], row_sum(grad, at) + row_sum(grad + at + 1, n - at - 1));
}

// What forward_columns subtracts at last, from the exponentials less those that are 1.
template <class T>
void logs_of_others(const T* __restrict exponentials, T* __restrict log_total, int64_t n, int64_t inner,
                    int64_t width) {
    double others[kSweep];
    for (int64_t c = 0; c < width; ++c) others[c] = -1;
    for (int64_t i = 0; i < n; ++i) {  // first the ones alone: -1 + 1 is nothing that could swallow digits
        const T* __restrict e = exponentials + i * inner;
        for (int64_t c = 0; c < width; ++c) others[c] += e[c] == 1 ? 1.0 : 0.0;
    }
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict e = exponentials + i * inner;
        for (int64_t c = 0; c < width; ++c) others[c] += e[c] == 1 ? 0.0 : static_cast<double>(e[c]);
    }
    for (int64_t c = 0; c < width; ++c) log_total[c] = static_cast<T>(::log1p(others[c]));
}

// width <= kSweep columns of an [n, inner] block.
template <class T, bool kLog>
void forward_columns(const T* __restrict in, T* __restrict out, int64_t n, int64_t inner, int64_t width) {
    T largest[kSweep], scale[kSweep];
    double total[kSweep];  // few enough to stay in the first-level cache
    for (int64_t c = 0; c < width; ++c) {
        largest[c] = lowest<T>;
        total[c] = 0;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t c = 0; c < width; ++c) largest[c] = larger(largest[c], in[i * inner + c]);
    for (int64_t i = 0; i < n; ++i) {
        T* __restrict o = out + i * inner;
        for (int64_t c = 0; c < width; ++c) o[c] = vector_exp(in[i * inner + c] - largest[c]);
        for (int64_t c = 0; c < width; ++c) total[c] += static_cast<double>(o[c]);
    }
    int few_others = 0;
    for (int64_t c = 0; c < width; ++c) {
        scale[c] = static_cast<T>(kLog ? ::log(total[c]) : 1.0 / total[c]);
        if (kLog) few_others |= total[c] < kFewOthers;
    }
    if (few_others) logs_of_others(out, scale, n, inner, width);
    for (int64_t i = 0; i < n; ++i) {
        T* __restrict o = out + i * inner;
        if constexpr (kLog) {
            for (int64_t c = 0; c < width; ++c) o[c] = (in[i * inner + c] - largest[c]) - scale[c];
        } else {
            for (int64_t c = 0; c < width; ++c) o[c] *= scale[c];
        }
    }
    for (int64_t c = 0; c < width; ++c)
        if (!(largest[c] < highest<T>)) infinite_row<T, kLog>(in + c, out + c, n, inner);
}

// Of columns with a dominant element: the gradient there (`center`), and the sum of (grad - center) * result.
template <class T>
void measure_from_dominant(const T* __restrict grad, const T* __restrict result, T* __restrict center,
                           T* __restrict dot, int64_t n, int64_t inner, int64_t width) {
    double total[kSweep];
    for (int64_t c = 0; c < width; ++c) {
        center[c] = 0;
        total[c] = 0;
    }
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict g = grad + i * inner;
        const T* __restrict r = result + i * inner;
        for (int64_t c = 0; c < width; ++c)
            center[c] = (r[c] > static_cast<T>(kDominant)) & (absolute(g[c]) < highest<T>) ? g[c] : center[c];
    }
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict g = grad + i * inner;
        const T* __restrict r = result + i * inner;
        for (int64_t c = 0; c < width; ++c) total[c] += static_cast<double>((g[c] - center[c]) * r[c]);
    }
    for (int64_t c = 0; c < width; ++c) dot[c] = static_cast<T>(total[c]);
}

// Dominant elements once more, see dominant_gradient.
template <class T>
void correct_dominant(const T* __restrict grad, const T* __restrict result, T* __restrict out, int64_t n, int64_t inner,
                      int64_t width) {
    constexpr T dominant = static_cast<T>(kLogDominant);
    double others[kSweep], at[kSweep], own[kSweep];  // what the others' gradients sum to, the logarithm, its gradient
    for (int64_t c = 0; c < width; ++c) others[c] = at[c] = own[c] = 0;
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict g = grad + i * inner;
        const T* __restrict r = result + i * inner;
        for (int64_t c = 0; c < width; ++c) {
            others[c] += r[c] > dominant ? 0.0 : static_cast<double>(g[c]);
            own[c] = r[c] > dominant ? static_cast<double>(g[c]) : own[c];
            at[c] = r[c] > dominant ? static_cast<double>(r[c]) : at[c];
        }
    }
    for (int64_t c = 0; c < width; ++c) own[c] *= -::expm1(at[c]);
    for (int64_t c = 0; c < width; ++c) own[c] -= ::exp(at[c]) * others[c];
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict r = result + i * inner;
        T* __restrict o = out + i * inner;
        for (int64_t c = 0; c < width; ++c) o[c] = r[c] > dominant ? static_cast<T>(own[c]) : o[c];
    }
}

template <class T, bool kLog>
void backward_columns(const T* __restrict grad, const T* __restrict result, T* __restrict out, int64_t n, int64_t inner,
                      int64_t width) {
    double total[kSweep];
    T rounded[kSweep], center[kSweep];
    int dominates = 0;
    for (int64_t c = 0; c < width; ++c) {
        total[c] = 0;
        center[c] = 0;
    }
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict g = grad + i * inner;
        const T* __restrict r = result + i * inner;
        for (int64_t c = 0; c < width; ++c) total[c] += static_cast<double>(kLog ? g[c] : g[c] * r[c]);
        for (int64_t c = 0; c < width; ++c) dominates |= r[c] > static_cast<T>(kLog ? kLogDominant : kDominant);
    }
    for (int64_t c = 0; c < width; ++c) rounded[c] = static_cast<T>(total[c]);
    if (!kLog && dominates) measure_from_dominant(grad, result, center, rounded, n, inner, width);
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict g = grad + i * inner;
        const T* __restrict r = result + i * inner;
        T* __restrict o = out + i * inner;
        if constexpr (kLog) {
            for (int64_t c = 0; c < width; ++c) o[c] = g[c] - vector_exp(r[c]) * rounded[c];
        } else {
            for (int64_t c = 0; c < width; ++c) o[c] = ((g[c] - center[c]) - rounded[c]) * r[c];
        }
    }
    if (kLog && dominates) correct_dominant(grad, result, out, n, inner, width);
}

// Blocks [n,inner] with few columns and short ones: the columns of several are moved side by side, kTransposed at most.
constexpr int64_t kNarrow = 8;
template <class T>
bool is_narrow(int64_t outer, int64_t n, int64_t inner) {
    return inner <= kNarrow && n < Lanes<T>::kCount && outer * inner >= 8;
}
template <class T>
using SideBySide = T[Lanes<T>::kCount * kTransposed];

// Along the blocks: what lies side by side in one is too little to begin a copy for.
template <class T>
void move_together(const T* from, int64_t blocks, int64_t n, int64_t inner, T* to) {
    if (inner == 1) return transpose(blocks, n, from, n, to, kTransposed);
    const int64_t size = n * inner;
    for (int64_t i = 0; i < n; ++i, to += kTransposed)
        for (int64_t c = 0; c < inner; ++c, ++from)
            for (int64_t o = 0; o < blocks; ++o) to[o * inner + c] = from[o * size];
}
template <class T>
void move_apart(const T* from, int64_t blocks, int64_t n, int64_t inner, T* to) {
    if (inner == 1) return transpose(n, blocks, from, kTransposed, to, n);
    const int64_t size = n * inner;
    for (int64_t i = 0; i < n; ++i, from += kTransposed)
        for (int64_t c = 0; c < inner; ++c, ++to)
            for (int64_t o = 0; o < blocks; ++o) to[o * size] = from[o * inner + c];
}
// Calls f(offset of the first block, how many).
template <class F>
void groups_of_blocks(int64_t outer, int64_t n, int64_t inner, F f) {
    const int64_t group = kTransposed / inner;
    for (int64_t o = 0; o < outer; o += group) f(o * n * inner, outer - o < group ? outer - o : group);
}

template <class T, bool kLog>
void forward(const T* in, T* out, int64_t outer, int64_t n, int64_t inner) {
    if (is_narrow<T>(outer, n, inner)) {
        groups_of_blocks(outer, n, inner, [=](int64_t at, int64_t blocks) {
            SideBySide<T> x, result;
            move_together(in + at, blocks, n, inner, x);
            forward_columns<T, kLog>(x, result, n, kTransposed, blocks * inner);
            move_apart(result, blocks, n, inner, out + at);
        });
        return;
    }
    if (inner == 1 && kLog) {
        const int64_t together = n * kTogether <= kCached ? kTogether : 1;
        for (int64_t i = 0; i < outer; i += together)
            log_softmax_rows(in + i * n, out + i * n, outer - i < together ? outer - i : together, n);
        return;
    }
    if (inner == 1) {
        for (int64_t i = 0; i < outer; ++i, in += n, out += n) softmax_row(in, out, n);
        return;
    }
    for (int64_t i = 0; i < outer; ++i, in += n * inner, out += n * inner)
        for (int64_t c = 0; c < inner; c += kSweep)
            forward_columns<T, kLog>(in + c, out + c, n, inner, inner - c < kSweep ? inner - c : kSweep);
}

template <class T, bool kLog>
void backward(const T* grad, const T* result, T* out, int64_t outer, int64_t n, int64_t inner) {
    if (is_narrow<T>(outer, n, inner)) {
        groups_of_blocks(outer, n, inner, [=](int64_t at, int64_t blocks) {
            SideBySide<T> g, r, o;
            move_together(grad + at, blocks, n, inner, g);
            move_together(result + at, blocks, n, inner, r);
            backward_columns<T, kLog>(g, r, o, n, kTransposed, blocks * inner);
            move_apart(o, blocks, n, inner, out + at);
        });
        return;
    }
    if (inner == 1) {
        for (int64_t i = 0; i < outer; ++i, grad += n, result += n, out += n)
            kLog ? log_softmax_backward_row(grad, result, out, n) : softmax_backward_row(grad, result, out, n);
        return;
    }
    for (int64_t i = 0; i < outer; ++i, grad += n * inner, result += n * inner, out += n * inner)
        for (int64_t c = 0; c < inner; c += kSweep)
            backward_columns<T, kLog>(grad + c, result + c, out + c, n, inner, inner - c < kSweep ? inner - c : kSweep);
}

template <class T>
constexpr SoftmaxLoops<T> loops() {
    return {forward<T, false>, forward<T, true>, backward<T, false>, backward<T, true>};
}

}  // namespace

extern const SoftmaxTable softmax_table;
constinit const SoftmaxTable softmax_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
