// The interface between GEMM's planning (backends/cpu/products/gemm.cpp) and its loops, compiled per instruction set
// (isa/gemm.cpp).
#pragma once

#include <cstdint>

namespace wengert::kernels {

// C[m,n] = alpha A[m,k] B[k,n] + beta C; strides in elements. beta == 0 means that C is not read.
template <class T>
struct GemmArgs {
    int64_t m, n, k;
    T alpha;
    const T* a;
    int64_t a_row, a_col;
    const T* b;
    int64_t b_row, b_col;
    T beta;
    T* c;
    int64_t c_row, c_col;
};

// y[m] = alpha A[m,k] x[k] + beta y, x contiguous.
template <class T>
struct GemvArgs {
    int64_t m, k;
    T alpha;
    const T* a;
    int64_t a_row, a_col;
    const T* x;
    T beta;
    T* y;
    int64_t y_step;
};

template <class T>
struct GemmLoops {
    int tile_rows, tile_cols;  // of the register tile
    int64_t block_rows, block_cols,
        block_k;  // of the packed panels: A's block_rows x block_k, B's block_k x block_cols
    // Without packing; rows of B and C contiguous (b_col == c_col == 1). The best for small matrices.
    void (*direct)(const GemmArgs<T>&);
    // With packing, any strides; rows of C contiguous is the fast case. Buffers hold whole tiles, and a row of one more (see gemm.cpp).
    void (*packed)(const GemmArgs<T>&, T* packed_a, T* packed_b);
    void (*gemv)(const GemvArgs<T>&);
    T (*dot)(int64_t n, const T* x, const T* y);
};

struct GemmTable {
    GemmLoops<float> f32;
    GemmLoops<double> f64;
    // Complex numbers and integers: loops that the compiler vectorises.
    void (*plain_complex64)(const GemmArgs<float>&);  // pointers to interleaved re, im; strides in complex elements
    void (*plain_complex128)(const GemmArgs<double>&);
    void (*plain_int64)(const GemmArgs<int64_t>&);
    void (*plain_int32)(const GemmArgs<int32_t>&);
};

}  // namespace wengert::kernels
