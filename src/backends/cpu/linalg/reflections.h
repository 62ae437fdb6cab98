// QR decompositions in blocks of reflections.
//
// LAPACK's routines take the last 128 columns of a matrix one by one, which reads the others' memory once for each. Here a few
// columns are decomposed by them, and what follows sees their reflections as one: H_1 ... H_w = I - V T V^H with the unit lower
// trapezoid V and an upper triangular T (Schreiber and Van Loan, A storage-efficient WY representation for products of
// Householder transformations, 1989), so as a few products of matrices. The format is that of LAPACK's geqrf.
#pragma once

#include "backends/cpu/linalg/lapack.h"

namespace wengert::kernels::linalg {

// Of matrices with m rows and up to n columns, one after the other. They are column-major.
template <class T>
class Reflections {
public:
    Reflections(int64_t m, int64_t n);

    // a [m,n] becomes R above the vectors of its reflections, whose factors are tau [min(m,n)].
    void factor(int64_t n, T* a, T* tau) const;
    // Such vectors and factors of k reflections become the first columns of their product Q: a [m,cols], cols >= k.
    void form(int64_t cols, int64_t k, T* a, const T* tau) const;
    // c := Q^H c for c [m,.], of any strides.
    void apply_adjoint(int64_t k, const T* a, const T* tau, Matrix<T> c) const;

private:
    // Whether products are worth their preparation.
    bool in_blocks(int64_t cols) const;
    // Routines of LAPACK, on columns of the matrix.
    void run_geqrf(int64_t m, int64_t n, T* a, T* tau) const;
    void run_orgqr(int64_t cols, int64_t k, T* a, const T* tau) const;
    void run_ormqr(int64_t k, const T* a, const T* tau, Matrix<T> c) const;

    const int64_t m_;
    const Blas<T>& routines_;
    const int work_size_;
    const Scratch<T> work_;
};

}  // namespace wengert::kernels::linalg
