// Weighted sums of a few elements, for resampling (resize.cpp): compiled once per instruction set (isa/resample_loops.cpp).
#pragma once

#include <cstdint>

namespace wengert::kernels {

// A sparse matrix: output y is the sum of weight[k] times the input at[k] over k in [start[y], start[y + 1]).
template <class T>
struct TapRows {
    const int64_t *start, *at;
    const T* weight;
    int64_t outputs;
    int64_t each;  // how many every output has, 0 if that differs
};

template <class T>
struct ResampleLoops {
    // to [outputs] of the inputs `from`.
    void (*line)(const TapRows<T>&, const T* from, T* to);
    // One output, of inputs that are rows: to [n] = the sum of weight[k] * from[at[k] * n ..], k < count.
    void (*rows)(const int64_t* at, const T* weight, int64_t count, const T* from, int64_t n, T* to);
};
struct ResampleTable {
    ResampleLoops<float> of_float;
    ResampleLoops<double> of_double;
};
const ResampleTable& resample_table();

}  // namespace wengert::kernels
