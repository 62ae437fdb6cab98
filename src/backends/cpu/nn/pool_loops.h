// The interface between max pooling (pooling.cpp) and its loop, compiled per instruction set (isa/pool.cpp).
#pragma once

#include <cstdint>

namespace wengert::kernels {

// A row of n windows, `stride` apart, each seeing plane[origin + x * stride + taps[k]] for k in [0, count).
template <class T>
struct MaxRow {
    const T* plane;
    int64_t origin, n, stride;
    const int64_t* taps;
    int64_t count;
    T* value;        // [n]
    int64_t* index;  // [n], in the plane
};

struct PoolTable {
    void (*max_f32)(const MaxRow<float>&);
    void (*max_f64)(const MaxRow<double>&);
};

}  // namespace wengert::kernels
