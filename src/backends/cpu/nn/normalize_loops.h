// The inner loops of the normalisation layers on contiguous memory, compiled per instruction set (isa/normalize_loops.cpp). Null
// pointers for what is absent.
#pragma once

#include <cstdint>

namespace wengert::kernels {

template <class T>
struct NormLoops {
    // Rows of n: out = (x - mean) * rstd * weight[n] + bias[n]. `center` false: mean taken as 0 (rms_norm).
    void (*rows)(const T* in, const T* weight, const T* bias, T* out, T* mean, T* rstd, int64_t rows, int64_t n,
                 double eps, bool center);
    // Whether all statistics and sums were finite.
    bool (*rows_backward)(const T* grad, const T* in, const T* weight, const T* mean, const T* rstd, T* grad_in,
                          double* grad_weight, double* grad_bias, T* partial, int64_t rows, int64_t n);
    // (partial: 2 * n zeros)
    // One row per (batch, channel) of `space` elements: out = (in - mean[c]) * scale[c] + shift[c], all per (batch,
    // channel) if `per_sample`, else per channel.
    void (*affine)(const T* in, const T* mean, const T* scale, const T* shift, T* out, int64_t batch, int64_t channels,
                   int64_t space, bool per_sample);
    // sums[c] = sum of grad, dots[c] = sum of grad * (in - mean[c]) over space (and over batch unless per_sample).
    void (*sums)(const T* grad, const T* in, const T* mean, double* sums, double* dots, int64_t batch, int64_t channels,
                 int64_t space, bool per_sample);
    // out = (grad * weight[c] + (in - mean[c]) * a[c] + b[c]) * rstd[c]; coefficients as in `affine`. No factor is a
    // square of the data's scale, so all of them stay in range.
    void (*combine)(const T* grad, const T* in, const T* mean, const T* weight, const T* a, const T* b, const T* rstd,
                    T* out, int64_t batch, int64_t channels, int64_t space, bool per_sample);
};
struct NormTable {
    NormLoops<float> of_float;
    NormLoops<double> of_double;
};
const NormTable& norm_table();

}  // namespace wengert::kernels
