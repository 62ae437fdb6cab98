// qr, eigh and eig on the CPU.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/lapack.h"
#include "backends/cpu/linalg/reflections.h"
#include "kernels/linalg/error.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// --- Hermitian eigenvalues

// Eigenvectors replace `a`, which LAPACK sees transposed, so conjugated: they come out as columns of conj(V), column-major.
void eigh(Result w, Result v, const Tensor& self, bool lower) {
    const bool vectors = v->defined();
    const Tensor a = vectors ? matrix_transposed(v) : row_major_copy(self);
    if (vectors) copy_into(a, self);
    const int n = static_cast<int>(cols(self)), ld = n;
    const char *job = vectors ? "V" : "N", *uplo = lower ? "U" : "L";
    dispatch_inexact(self.dtype(), "linalg.eigh", [&]<class T> {
        using R = real_of<T>;
        auto call = [&](int64_t i, T* work, const int* lwork, R* rwork, const int* lrwork, int* iwork,
                        const int* liwork) {
            T* at = a.data_as<T>() + i * n * n;
            R* values = w->data_as<R>() + i * n;
            int info = 0;
            if constexpr (is_complex_type<T>)
                blas<T>().heevd(job, uplo, &n, at, &ld, values, work, lwork, rwork, lrwork, iwork, liwork, &info);
            else
                blas<T>().heevd(job, uplo, &n, at, &ld, values, work, lwork, iwork, liwork, &info), (void)rwork,
                    (void)lrwork;
            return info;
        };
        T work_size{};
        R rwork_size{};
        int iwork_size = 0, query = -1;
        call(0, &work_size, &query, &rwork_size, &query, &iwork_size, &query);
        const int lwork = std::max(1, static_cast<int>(std::real(work_size)));
        const int lrwork = std::max(1, static_cast<int>(rwork_size)), liwork = std::max(1, iwork_size);
        const Scratch<T> work(lwork);
        const Scratch<R> rwork(lrwork);
        const Scratch<int> iwork(liwork);
        for (int64_t i = 0; i < batch_count(self); ++i) {
            const int info = call(i, work.data(), &lwork, rwork.data(), &lrwork, iwork.data(), &liwork);
            check_linalg(
                info == 0, "linalg.eigh: ", batch_element(self, i),
                "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                "eigenvalues (error code: ",
                info, ").");
        }
    });
    if (vectors) conjugate_(a);
}

// --- General eigenvalues

// A real matrix's vectors from LAPACK's form: a conjugate pair is v(j) +- i v(j+1). [n,n], column-major
template <class R>
void unpack_pairs(int64_t n, const R* wr, const R* wi, const R* packed, std::complex<R>* w, std::complex<R>* v) {
    for (int64_t j = 0; j < n; ++j) w[j] = {wr[j], wi[j]};
    if (!v) return;
    for (int64_t j = 0; j < n; ++j) {
        const R* column = packed + j * n;
        if (wi[j] == 0) {
            for (int64_t i = 0; i < n; ++i) v[j * n + i] = column[i];
            continue;
        }
        for (int64_t i = 0; i < n; ++i) {
            v[j * n + i] = {column[i], column[n + i]};
            v[(j + 1) * n + i] = {column[i], -column[n + i]};
        }
        ++j;
    }
}

template <class T>
T times_power_of_two(T x, int e) {
    if constexpr (is_complex_type<T>)
        return {std::ldexp(x.real(), e), std::ldexp(x.imag(), e)};
    else
        return std::ldexp(x, e);
}

// LAPACK scales matrices of extreme size, but not all versions undo it. Takes a power of two from `a` where that is needed,
// so that no digit changes; returns its exponent.
template <class T>
int take_scale(T* a, int64_t size) {
    double largest = 0;
    for (int64_t i = 0; i < size; ++i) largest = std::max(largest, static_cast<double>(std::abs(a[i])));
    const int e = largest > 0 ? std::ilogb(largest) : 0, usual = sizeof(real_of<T>) == 4 ? 30 : 400;
    if (std::abs(e) < usual) return 0;
    for (int64_t i = 0; i < size; ++i) a[i] = times_power_of_two(a[i], -e);
    return e;
}

void eig(Result w, Result v, const Tensor& self) {
    const Tensor a = column_major_copy(self);
    const bool vectors = v->defined();
    const int n = static_cast<int>(cols(self)), one = 1;
    const char* job = vectors ? "V" : "N";
    dispatch_inexact(self.dtype(), "linalg.eig", [&]<class T> {
        check(is_finite(a.data_as<T>(), a.numel()), ErrorKind::Runtime,
              "linalg.eig: input tensor should not contain infs or NaNs.");
        using R = real_of<T>;
        using C = std::complex<R>;
        Scratch<R> wr(2 * int64_t{n}), wi(n), packed(vectors && !is_complex_type<T> ? int64_t{n} * n : 0);
        T nothing{};
        const int ldv = vectors ? n : 1;
        auto of_matrix = [&](int64_t i) {
            return [&, at = a.data_as<T>() + i * n * n, values = w->data_as<C>() + i * n,
                    columns = vectors ? v->data_as<C>() + i * n * n : nullptr](T* work, const int* lwork, int* result) {
                if constexpr (is_complex_type<T>)
                    blas<T>().geev("N", job, &n, at, &n, values, &nothing, &one, vectors ? columns : &nothing, &ldv,
                                   work, lwork, wr.data(), result);
                else
                    blas<T>().geev("N", job, &n, at, &n, wr.data(), wi.data(), &nothing, &one,
                                   vectors ? packed.data() : &nothing, &ldv, work, lwork, result),
                        (void)values, (void)columns;
            };
        };
        const Workspace<T> workspace(of_matrix(0));
        for (int64_t i = 0; i < batch_count(self); ++i) {
            T* at = a.data_as<T>() + i * n * n;
            C *values = w->data_as<C>() + i * n, *columns = vectors ? v->data_as<C>() + i * n * n : nullptr;
            const int exponent = take_scale(at, int64_t{n} * n);
            const int info = workspace.run(of_matrix(i));
            check_linalg(
                info == 0, "linalg.eig: ", batch_element(self, i),
                "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                "eigenvalues (error code: ",
                info, ").");
            if constexpr (!is_complex_type<T>) unpack_pairs<R>(n, wr, wi, packed, values, columns);
            for (int j = 0; j < n; ++j) values[j] = times_power_of_two(values[j], exponent);
        }
    });
}

// --- QR

void qr(Result q, Result r, const Tensor& self) {
    const int64_t m = rows(self), n = cols(self), k = std::min(m, n);
    const int64_t q_cols = q->numel() > 0 ? cols(q) : 0, r_rows = rows(r), width = std::max(n, q_cols);
    const Tensor a = column_major_copy(self);
    dispatch_inexact(self.dtype(), "linalg.qr", [&]<class T> {
        const Scratch<T> tau(k), factors(m * width);
        const Reflections<T> reflections(m, width);
        for (int64_t i = 0; i < batch_count(self); ++i) {
            const T* from = a.data_as<T>() + i * m * n;
            std::copy(from, from + m * n, factors.data());
            reflections.factor(n, factors, tau);
            T* upper = r->data_as<T>() + i * r_rows * n;
            for (int64_t j = 0; j < n; ++j)
                for (int64_t p = 0; p < r_rows; ++p) upper[j * r_rows + p] = p <= j ? factors[j * m + p] : T(0);
            if (q_cols == 0) continue;
            reflections.form(q_cols, std::min(k, q_cols), factors, tau);
            std::copy(factors.data(), factors.data() + m * q_cols, q->data_as<T>() + i * m * q_cols);
        }
    });
}

void geqrf(Result a, Result tau) {
    const int64_t m = rows(a), n = cols(a), k = std::min(m, n);
    dispatch_inexact(a->dtype(), "geqrf", [&]<class T> {
        const Reflections<T> reflections(m, n);
        for (int64_t i = 0; i < batch_count(a); ++i)
            reflections.factor(n, a->data_as<T>() + i * m * n, tau->data_as<T>() + i * k);
    });
}

// --- Products of reflections

void orgqr(Result a, const Tensor& tau) {
    const int64_t m = rows(a), n = cols(a), k = tau.size(-1);
    const Tensor factors = contiguous(tau);
    dispatch_inexact(a->dtype(), "linalg.householder_product", [&]<class T> {
        const Reflections<T> reflections(m, n);
        for (int64_t i = 0; i < batch_count(a); ++i)
            reflections.form(n, k, a->data_as<T>() + i * m * n, factors.data_as<T>() + i * k);
    });
}

// LAPACK sees C^T in row-major memory: (Q C)^T = C^T Q^T, and Q^T = conj(Q^H).
void ormqr(Result c, const Tensor& a, const Tensor& tau, bool left, bool transpose) {
    const Tensor vectors = column_major_copy(a), factors = contiguous(tau);
    const int m = static_cast<int>(rows(c)), n = static_cast<int>(cols(c)), k = static_cast<int>(tau.size(-1));
    const int order = left ? m : n, width = static_cast<int>(cols(a));
    conjugate_(c);
    dispatch_inexact(c->dtype(), "ormqr", [&]<class T> {
        const char *side = left ? "R" : "L", *op = transpose ? "N" : is_complex_type<T> ? "C" : "T";
        auto of_matrix = [&](int64_t i) {
            return [&, i](T* work, const int* lwork, int* info) {
                blas<T>().ormqr(side, op, &n, &m, &k, vectors.data_as<T>() + i * order * width, &order,
                                factors.data_as<T>() + i * k, c->data_as<T>() + i * m * n, &n, work, lwork, info);
            };
        };
        const Workspace<T> workspace(of_matrix(0));
        for (int64_t i = 0; i < batch_count(c); ++i) workspace.run(of_matrix(i));
    });
    conjugate_(c);
}

}  // namespace

constinit DeviceKernel<void(Result, Result, const Tensor&)> qr_kernel{"linalg_qr", qr};
constinit DeviceKernel<void(Result, Result)> geqrf_kernel{"geqrf", geqrf};
constinit DeviceKernel<void(Result, const Tensor&)> orgqr_kernel{"linalg_householder_product", orgqr};
constinit DeviceKernel<void(Result, const Tensor&, const Tensor&, bool, bool)> ormqr_kernel{"ormqr", ormqr};
constinit DeviceKernel<void(Result, Result, const Tensor&, bool)> eigh_kernel{"linalg_eigh", eigh,
                                                                              HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result, const Tensor&)> eig_kernel{"linalg_eig", eig, HostWaits::ForErrors};

}  // namespace wengert::kernels
