// The interface between max pooling (pooling.cpp) and its loops, compiled per instruction set (isa/pool.cpp). NaN is greatest, the
// last of several; else the first of several greatest elements counts. Indices are left out where there is no memory for them.
#pragma once

#include <cstdint>

namespace wengert::kernels {

// A row of n windows, `stride` apart, each seeing plane[origin + x * stride + taps[k]] for k in [0, count), of which there is one.
template <class T>
struct MaxRow {
    const T* plane;
    int64_t origin, n, stride;
    const int64_t* taps;  // they rise
    int64_t count;
    T* value;        // [n]
    int64_t* index;  // [n], in the plane, or null
};

// A row of windows that see [depth, height] dense rows: plane[first + i * of_depth + j * of_height + x] for x in [begin, end).
struct Span {
    int64_t begin, end;
};
template <class T>
struct MaxSpans {
    const T* plane;
    int64_t first, depth, height, of_depth, of_height;
    const Span* spans;  // of which no begin or end is before that of the one before
    int64_t count;
    T* value;        // [count]
    int64_t* index;  // [count], in the plane, or null
};

struct PoolTable {
    void (*max_f32)(const MaxRow<float>&);
    void (*max_f64)(const MaxRow<double>&);
    void (*spans_f32)(const MaxSpans<float>&);
    void (*spans_f64)(const MaxSpans<double>&);
};

}  // namespace wengert::kernels
