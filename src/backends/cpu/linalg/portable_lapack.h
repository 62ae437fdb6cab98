// Our own routines in the Fortran ABI of backends/cpu/linalg/blas.h: complete and correct, written for brevity. They run where no
// provider was found. Workspace queries (lwork == -1) are answered with 1, because none of them uses the workspace.
//
//   portable_lapack.cpp   gemm, trsm, potrf, potri, getrf, getri, geqrf, orgqr, ormqr
//   portable_ldl.cpp      hetrf, sytrf: Bunch and Kaufman's pivots
//   portable_svd.cpp      gesdd: one-sided Jacobi
//   portable_eigen.cpp    heevd: two-sided Jacobi; geev: shifted QR on the complex Hessenberg form
#pragma once

#include <cmath>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/blas.h"

namespace wengert::kernels::portable {

// The registry filled with portable routines.
template <class T>
Blas<T> routines();

// For template code over real and complex elements.
template <class T>
real_of<T> squared(const T& x) {
    if constexpr (is_complex_type<T>)
        return std::norm(x);
    else
        return x * x;
}
template <class T>
real_of<T> real_part(const T& x) {
    return std::real(x);
}

// A provider takes the size of the workspace; we need none.
template <class T>
bool answers_query(Int lwork, T* work) {
    if (*lwork != -1) return false;
    work[0] = T(1);
    return true;
}

template <class T>
SymmetricFactorization<T>* ldl_routine(bool hermitian);
template <class T>
typename LapackTypes<T>::gesdd* svd_routine();
template <class T>
typename LapackTypes<T>::heevd* eigh_routine();
template <class T>
typename LapackTypes<T>::geev* eig_routine();

}  // namespace wengert::kernels::portable
