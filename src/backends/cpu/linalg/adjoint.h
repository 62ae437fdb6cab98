// Code over real and complex matrices at once: conj(x), and A^H as an operand of products.
#pragma once

#include <complex>

#include "backends/cpu/linalg/blas.h"
#include "backends/cpu/products/gemm.h"

namespace wengert::kernels {

template <class T>
T conjugate(const T& x) {
    if constexpr (is_complex_type<T>)
        return std::conj(x);
    else
        return x;
}

// The transposed view where elements are real, else a dense matrix of its own.
template <class T>
class Adjoint {
public:
    explicit Adjoint(Matrix<const T> a) : copy_(is_complex_type<T> ? a.rows * a.cols : 0), view_(a.transposed()) {
        if constexpr (is_complex_type<T>) {
            for (int64_t i = 0; i < a.rows; ++i)
                for (int64_t j = 0; j < a.cols; ++j) copy_[j * a.rows + i] = conjugate(a(i, j));
            view_ = row_major<const T>(copy_.data(), a.cols, a.rows);
        }
    }
    Matrix<const T> view() const { return view_; }

private:
    Scratch<T> copy_;
    Matrix<const T> view_;
};

}  // namespace wengert::kernels
