// The inner loops of softmax, compiled per instruction set (isa/softmax_loops.cpp): `outer` blocks of [n, inner], contiguous,
// normalised along n.
#pragma once

#include <cstdint>

namespace wengert::kernels {

template <class T>
struct SoftmaxLoops {
    using Forward = void (*)(const T* in, T* out, int64_t outer, int64_t n, int64_t inner);
    using Backward = void (*)(const T* grad, const T* result, T* out, int64_t outer, int64_t n, int64_t inner);
    Forward softmax, log_softmax;
    Backward softmax_backward, log_softmax_backward;
};
struct SoftmaxTable {
    SoftmaxLoops<float> of_float;
    SoftmaxLoops<double> of_double;
};
const SoftmaxTable& softmax_table();

}  // namespace wengert::kernels
