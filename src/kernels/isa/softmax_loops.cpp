// Softmax along contiguous rows (inner 1), or along n across kSweep neighbouring columns at a time.
#include "kernels/isa/libm.h"
#include "kernels/isa/rows.h"
#include "kernels/softmax.h"

namespace wengert::kernels::WENGERT_ISA {
namespace {

constexpr int64_t kSweep = 512;
template <class T>
void softmax_row(const T* __restrict in, T* __restrict out, int64_t n) {
    const T largest = row<MaxOp<T>>(in, n, lowest<T>);
    for (int64_t i = 0; i < n; ++i) out[i] = vector_exp(in[i] - largest);
    const T scale = static_cast<T>(1.0 / row_sum(out, n));
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
}

template <class T>
void log_softmax_row(const T* __restrict in, T* __restrict out, int64_t n) {
    const T largest = row<MaxOp<T>>(in, n, lowest<T>);
    double total = 0;
    for (int64_t i0 = 0; i0 < n; i0 += kBuffer) {
        T buffer[kBuffer];
        int64_t width = n - i0 < kBuffer ? n - i0 : kBuffer;
        for (int64_t i = 0; i < width; ++i) buffer[i] = vector_exp(in[i0 + i] - largest);
        total += row_sum(buffer, width);
    }
    const T log_total = static_cast<T>(::log(total));
    for (int64_t i = 0; i < n; ++i) out[i] = (in[i] - largest) - log_total;
}

template <class T>
void softmax_backward_row(const T* __restrict grad, const T* __restrict result, T* __restrict out, int64_t n) {
    const T dot = static_cast<T>(row_dot(grad, result, n));
    for (int64_t i = 0; i < n; ++i) out[i] = (grad[i] - dot) * result[i];
}

template <class T>
void log_softmax_backward_row(const T* __restrict grad, const T* __restrict result, T* __restrict out, int64_t n) {
    const T total = static_cast<T>(row_sum(grad, n));
    for (int64_t i = 0; i < n; ++i) out[i] = grad[i] - vector_exp(result[i]) * total;
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
    for (int64_t c = 0; c < width; ++c) scale[c] = static_cast<T>(kLog ? ::log(total[c]) : 1.0 / total[c]);
    for (int64_t i = 0; i < n; ++i) {
        T* __restrict o = out + i * inner;
        if constexpr (kLog) {
            for (int64_t c = 0; c < width; ++c) o[c] = (in[i * inner + c] - largest[c]) - scale[c];
        } else {
            for (int64_t c = 0; c < width; ++c) o[c] *= scale[c];
        }
    }
}

template <class T, bool kLog>
void backward_columns(const T* __restrict grad, const T* __restrict result, T* __restrict out, int64_t n, int64_t inner,
                      int64_t width) {
    double total[kSweep];
    T rounded[kSweep];
    for (int64_t c = 0; c < width; ++c) total[c] = 0;
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict g = grad + i * inner;
        const T* __restrict r = result + i * inner;
        for (int64_t c = 0; c < width; ++c) total[c] += static_cast<double>(kLog ? g[c] : g[c] * r[c]);
    }
    for (int64_t c = 0; c < width; ++c) rounded[c] = static_cast<T>(total[c]);
    for (int64_t i = 0; i < n; ++i) {
        const T* __restrict g = grad + i * inner;
        const T* __restrict r = result + i * inner;
        T* __restrict o = out + i * inner;
        if constexpr (kLog) {
            for (int64_t c = 0; c < width; ++c) o[c] = g[c] - vector_exp(r[c]) * rounded[c];
        } else {
            for (int64_t c = 0; c < width; ++c) o[c] = (g[c] - rounded[c]) * r[c];
        }
    }
}

template <class T, bool kLog>
void forward(const T* in, T* out, int64_t outer, int64_t n, int64_t inner) {
    if (inner == 1 && n < Lanes<T>::kCount && outer >= 8) {
        transposed_rows(in, n, outer, n, [=](T* block, int64_t first, int64_t count) {
            T result[Lanes<T>::kCount * kTransposed];
            forward_columns<T, kLog>(block, result, n, kTransposed, count);
            for (int64_t r = 0; r < count; ++r)
                for (int64_t i = 0; i < n; ++i) out[(first + r) * n + i] = result[i * kTransposed + r];
        });
        return;
    }
    if (inner == 1) {
        for (int64_t i = 0; i < outer; ++i, in += n, out += n)
            kLog ? log_softmax_row(in, out, n) : softmax_row(in, out, n);
        return;
    }
    for (int64_t i = 0; i < outer; ++i, in += n * inner, out += n * inner)
        for (int64_t c = 0; c < inner; c += kSweep)
            forward_columns<T, kLog>(in + c, out + c, n, inner, inner - c < kSweep ? inner - c : kSweep);
}

template <class T, bool kLog>
void backward(const T* grad, const T* result, T* out, int64_t outer, int64_t n, int64_t inner) {
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
