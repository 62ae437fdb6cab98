// BLAS and LAPACK: a registry of routines in the Fortran ABI (column-major, every argument a pointer, 32-bit integers).
//
// Nothing is linked. Each entry of `Blas<T>` starts as our own portable routine (blas.cpp, portable_lapack.cpp),
// so the core is complete alone, and is replaced when a provider brings a better one: the Python layer sets a loader that
// is called once, on first need, and hands over addresses found in SciPy's extension modules or in MKL. The C++ type of an
// entry is the only statement of its signature; `blas_routines` spells it out for the loader, which checks it.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace wengert::kernels {

template <class T>
struct RealOf {
    using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
    using type = R;
};
template <class T>
using real_of = typename RealOf<T>::type;
template <class T>
inline constexpr bool is_complex_type = !std::is_same_v<T, real_of<T>>;

// A function pointer that may be replaced while other threads call it.
template <class F>
class Routine;
template <class... Args>
class Routine<void(Args...)> {
public:
    using Function = void (*)(Args...);
    constexpr Routine(Function f) : function_(f) {}
    void operator()(Args... args) const { function_.load(std::memory_order_relaxed)(args...); }
    void set(Function f) { function_.store(f, std::memory_order_relaxed); }

private:
    std::atomic<Function> function_;
};

using Flag = const char*;  // 'N', 'T', 'C'; 'U', 'L'; ...
using Int = const int*;

// How the real and the complex routines of one name differ.
template <class T>
struct LapackTypes {
    // (jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork, info)
    using gesdd = void(Flag, Int, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, int*, int*);
    // (jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info)
    using heevd = void(Flag, Flag, Int, T*, Int, T*, T*, Int, int*, Int, int*);
    // (jobvl, jobvr, n, a, lda, wr, wi, vl, ldvl, vr, ldvr, work, lwork, info)
    using geev = void(Flag, Flag, Int, T*, Int, T*, T*, T*, Int, T*, Int, T*, Int, int*);
};
template <class R>
struct LapackTypes<std::complex<R>> {
    using T = std::complex<R>;
    // rwork stands before iwork, rwork and lrwork before iwork, and (w, ..., rwork) for (wr, wi, ...)
    using gesdd = void(Flag, Int, Int, T*, Int, R*, T*, Int, T*, Int, T*, Int, R*, int*, int*);
    using heevd = void(Flag, Flag, Int, T*, Int, R*, T*, Int, R*, Int, int*, Int, int*);
    using geev = void(Flag, Flag, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, R*, int*);
};

template <class T>
using SymmetricFactorization = void(Flag, Int, T*, Int, int*, T*, Int, int*);

template <class T>
struct Blas {
    // (transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
    Routine<void(Flag, Flag, Int, Int, Int, const T*, const T*, Int, const T*, Int, const T*, T*, Int)> gemm;
    // (side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
    Routine<void(Flag, Flag, Flag, Flag, Int, Int, const T*, const T*, Int, T*, Int)> trsm;
    Routine<void(Flag, Int, T*, Int, int*)> potrf;              // (uplo, n, a, lda, info)
    Routine<void(Flag, Int, T*, Int, int*)> potri;              // (uplo, n, a, lda, info)
    Routine<void(Int, Int, T*, Int, int*, int*)> getrf;         // (m, n, a, lda, ipiv, info)
    Routine<void(Int, T*, Int, Int, T*, Int, int*)> getri;      // (n, a, lda, ipiv, work, lwork, info)
    Routine<void(Int, Int, T*, Int, T*, T*, Int, int*)> geqrf;  // (m, n, a, lda, tau, work, lwork, info)
    // (m, n, k, a, lda, tau, work, lwork, info); ungqr for complex T
    Routine<void(Int, Int, Int, T*, Int, const T*, T*, Int, int*)> orgqr;
    // (side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info); unmqr for complex T
    Routine<void(Flag, Flag, Int, Int, Int, const T*, Int, const T*, T*, Int, T*, Int, int*)> ormqr;
    // (uplo, n, a, lda, ipiv, work, lwork, info): of Hermitian matrices, and of symmetric ones, which differ for complex T
    Routine<SymmetricFactorization<T>> hetrf, sytrf;
    Routine<typename LapackTypes<T>::gesdd> gesdd;
    Routine<typename LapackTypes<T>::heevd> heevd;  // syevd for real T
    Routine<typename LapackTypes<T>::geev> geev;
};

// The registry for T in float, double, complex64, complex128. Calls the loader if nobody has yet.
template <class T>
const Blas<T>& blas();

// --- Providers

struct BlasRoutine {
    std::string name;       // "dgemm"
    std::string signature;  // a letter an argument: b char, i int, s d c z the element types
};
std::vector<BlasRoutine> blas_routines();

// Called once, on the first need of a routine, with no lock held; concurrent callers meanwhile use what is there. It
// calls blas_register for each routine that it finds.
using BlasLoader = void (*)();
void set_blas_loader(BlasLoader loader) noexcept;
// False if there is no routine of that name.
bool blas_register(std::string_view name, void* address);
bool blas_has_provider();  // calls the loader if nobody has yet

}  // namespace wengert::kernels
