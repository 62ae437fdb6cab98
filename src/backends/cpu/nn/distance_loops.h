// The Euclidean distances of one row from several, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace wengert::kernels {

template <class T>
struct DistanceLoops {
    // out[s] = sum of (x - rows[s])^2. x [n], rows [count,n]
    void (*squares)(const T* x, const T* rows, int64_t count, int64_t n, T* out);
    // to += cotangent[s] * (x - rows[s]) / norm[s], others[s] -= the same; nothing where either is 0.
    void (*add_gradients)(const T* x, const T* rows, int64_t count, int64_t n, const T* norm, const T* cotangent, T* to,
                          T* others);
};
struct DistanceTable {
    DistanceLoops<float> of_float;
    DistanceLoops<double> of_double;
};
const DistanceTable& distance_table();

}  // namespace wengert::kernels
