// What is no matrix product in a step of a long short-term memory, compiled per instruction set (isa/recurrent_loops.cpp). Rows of
// a batch stand one behind the other; kernels/nn/recurrent.h has the names.
#pragma once

#include <cstdint>

namespace wengert::kernels {

template <class T>
struct LstmLoops {
    // seen [rows, 5n] holds the sums of four gates: they become i, f, g and o, and c, and h is made, from the c of the step
    // before, whose rows begin every `stride`.
    void (*forward)(T* seen, const T* before, int64_t stride, T* h, int64_t rows, int64_t n);
    // From the cotangents of h [rows, n], in two parts of which `given` may be null, and of c, which becomes that of the
    // step before: those of the sums of the gates [rows, 4n]. Whether they are finite.
    bool (*backward)(const T* seen, const T* before, int64_t stride, const T* of_h, const T* given, T* of_c,
                     T* of_gates, int64_t rows, int64_t n);
};
struct LstmTable {
    LstmLoops<float> of_float;
    LstmLoops<double> of_double;
};
const LstmTable& lstm_table();

}  // namespace wengert::kernels
