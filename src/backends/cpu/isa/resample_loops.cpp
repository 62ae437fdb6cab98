// Weighted sums of a few elements (see backends/cpu/nn/resample_loops.h).
#include "backends/cpu/nn/resample_loops.h"

#ifndef WENGERT_ISA
#define WENGERT_ISA base
#endif

namespace wengert::kernels::WENGERT_ISA {
namespace {

template <class T>
void line(const TapRows<T>& t, const T* __restrict from, T* __restrict to) {
    const int64_t* __restrict at = t.at;
    const T* __restrict w = t.weight;
    if (t.each == 1) {
        for (int64_t y = 0; y < t.outputs; ++y) to[y] = w[y] * from[at[y]];
    } else if (t.each == 2) {
        for (int64_t y = 0; y < t.outputs; ++y) to[y] = w[2 * y] * from[at[2 * y]] + w[2 * y + 1] * from[at[2 * y + 1]];
    } else {
        for (int64_t y = 0; y < t.outputs; ++y) {
            T sum = 0;
            for (int64_t k = t.start[y]; k < t.start[y + 1]; ++k) sum += w[k] * from[at[k]];
            to[y] = sum;
        }
    }
}

template <class T>
void rows(const int64_t* at, const T* weight, int64_t count, const T* from, int64_t n, T* __restrict to) {
    if (count == 0) {
        for (int64_t i = 0; i < n; ++i) to[i] = 0;
    } else if (count == 1) {
        const T* __restrict a = from + at[0] * n;
        const T w = weight[0];
        for (int64_t i = 0; i < n; ++i) to[i] = w * a[i];
    } else {
        const T* __restrict a = from + at[0] * n, * __restrict b = from + at[1] * n;
        const T v = weight[0], w = weight[1];
        for (int64_t i = 0; i < n; ++i) to[i] = v * a[i] + w * b[i];
    }
    for (int64_t k = 2; k < count; ++k) {
        const T* __restrict a = from + at[k] * n;
        const T w = weight[k];
        for (int64_t i = 0; i < n; ++i) to[i] += w * a[i];
    }
}

template <class T>
constexpr ResampleLoops<T> loops() {
    return {line<T>, rows<T>};
}

}  // namespace

extern const ResampleTable resample_table;
constinit const ResampleTable resample_table = {loops<float>(), loops<double>()};

}  // namespace wengert::kernels::WENGERT_ISA
