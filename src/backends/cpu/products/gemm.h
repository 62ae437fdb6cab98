// Matrix products on strided memory: what matmul, convolution and the portable LAPACK stand on.
//
// `gemm` chooses between our register-tiled loops without packing (small), a provider's BLAS with transposition flags
// where the strides allow it (large), and our packed loops (everything else). It never needs contiguous operands. Large products use all threads.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "tensor/memory/block_cache.h"

namespace wengert::kernels {

// A matrix of strided elements; strides in elements.
template <class T>
struct Matrix {
    T* data;
    int64_t rows, cols;
    int64_t row_stride, col_stride;

    T& operator()(int64_t i, int64_t j) const { return data[i * row_stride + j * col_stride]; }
    Matrix transposed() const { return {data, cols, rows, col_stride, row_stride}; }
    Matrix block(int64_t i, int64_t j, int64_t m, int64_t n) const {
        return {data + i * row_stride + j * col_stride, m, n, row_stride, col_stride};
    }
    operator Matrix<const T>() const
        requires(!std::is_const_v<T>) {
        return {data, rows, cols, row_stride, col_stride};
    }
};
template <class T>
Matrix<T> row_major(T* data, int64_t rows, int64_t cols) {
    return {data, rows, cols, cols, 1};
}
template <class T>
Matrix<T> column_major(T* data, int64_t rows, int64_t cols, int64_t ld) {
    return {data, rows, cols, 1, ld};
}

// C[m,n] = alpha A[m,k] B[k,n] + beta C. beta == 0: C is not read. For all dtypes but bool.
template <class T>
void gemm(T alpha, std::type_identity_t<Matrix<const T>> a, std::type_identity_t<Matrix<const T>> b, T beta,
          std::type_identity_t<Matrix<T>> c);
// The same without ever calling a provider.
template <class T>
void own_gemm(T alpha, std::type_identity_t<Matrix<const T>> a, std::type_identity_t<Matrix<const T>> b, T beta,
              std::type_identity_t<Matrix<T>> c);

// From so many multiplications on one product keeps all threads busy: those of a batch come one after the other.
inline constexpr int64_t kFillsThreads = 400 * 400 * 400;

// sum of x[i] y[i]
template <class T>
T dot(int64_t n, const T* x, int64_t x_step, const T* y, int64_t y_step);

// Uninitialised memory for the duration of a call, aligned for vectors.
template <class T>
class Scratch {
public:
    explicit Scratch(int64_t n) : data_(n > 0 ? static_cast<T*>(block_allocate(bytes(n), &size_)) : nullptr) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        if (data_) block_free(data_, size_);
    }
    T* data() const noexcept { return data_; }
    operator T*() const noexcept { return data_; }

private:
    static size_t bytes(int64_t n) { return static_cast<size_t>(n) * sizeof(T); }
    size_t size_ = 0;
    T* data_;
};

}  // namespace wengert::kernels
