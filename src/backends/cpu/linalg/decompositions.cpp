// qr, svd, eigh, eig and least squares on the CPU.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/linalg/adjoint.h"
#include "backends/cpu/linalg/lapack.h"
#include "kernels/linalg/error.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// --- SVD: A^T = conj(V) S U^T, so LAPACK, which sees A^T in row-major memory, leaves V^H and U row-major.

void check_svd(const Tensor& self, int info, int64_t index) {
    if (info == 0) return;
    check_linalg(info > 0, "linalg.svd: ", batch_element(self, index),
                 "The algorithm failed to converge because the input matrix contained non-finite values.");
    check_linalg(
        false, "linalg.svd: ", batch_element(self, index),
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "singular values (error code: ",
        info, ").");
}

template <class T>
void fill_with_identities(const Tensor& t) {
    const int64_t n = cols(t);
    T* to = t.data_as<T>();
    std::fill(to, to + t.numel(), T(0));
    for (int64_t row = 0; row < batch_count(t) * rows(t); ++row) to[row * n + row % n] = T(1);
}

// Of up to so many rows and columns our own rotations find singular values sooner than a call of LAPACK returns. (Vectors are
// LAPACK's always: people know their signs.)
constexpr int64_t kJacobi = 4;

// Of a matrix that is wide to LAPACK it takes twice the time: tall ones are given as they are, for their columns.
void svd(Result left, Result s, Result right, const Tensor& self, char job) {
    const int m = static_cast<int>(rows(self)), n = static_cast<int>(cols(self)), k = std::min(m, n);
    const int u_cols = job == 'A' ? m : k, vh_rows = job == 'A' ? n : k;
    const bool tall = m > n, vectors = job != 'N';
    const Tensor a = tall ? column_major_copy(self) : row_major_copy(self);
    Tensor u = left, vh = right;
    if (tall && vectors) {
        u = empty_column_major(batch_sizes(self), m, u_cols, self.dtype(), self.device());
        vh = empty_column_major(batch_sizes(self), vh_rows, n, self.dtype(), self.device());
    }
    dispatch_inexact(self.dtype(), "linalg.svd", [&]<class T> {
        using R = real_of<T>;
        if (k == 0) return fill_with_identities<T>(left), fill_with_identities<T>(right);
        Scratch<int> iwork(8 * int64_t{k});
        int64_t x = std::max(m, n), y = k;
        Scratch<R> rwork(is_complex_type<T> ? std::max(5 * y * y + 5 * y, 2 * x * y + 2 * y * y + y) : 0);
        T nothing{};
        const Blas<T>& routines = !vectors && std::max(m, n) <= kJacobi ? routines_for<T>(k) : blas<T>();
        const int long_side = std::max(m, n), short_side = k, ldvt = tall ? vh_rows : u_cols;
        auto of_matrix = [&](int64_t i) {
            T* u_at = vectors ? u.data_as<T>() + i * m * u_cols : &nothing;
            T* vh_at = vectors ? vh.data_as<T>() + i * vh_rows * n : &nothing;
            return [&, i, first = tall ? u_at : vh_at, second = tall ? vh_at : u_at](T* work, const int* lwork,
                                                                                     int* result) {
                auto call = [&](auto*... reals) {
                    routines.gesdd(&job, &long_side, &short_side, a.data_as<T>() + i * m * n, &long_side,
                                   s->data_as<R>() + i * k, first, &long_side, second, &ldvt, work, lwork, reals...,
                                   iwork.data(), result);
                };
                if constexpr (is_complex_type<T>)
                    call(rwork.data());
                else
                    call();
            };
        };
        const Workspace<T> workspace(of_matrix(0));
        for (int64_t i = 0; i < batch_count(self); ++i) {
            constexpr int kNotFinite = -4;  // as LAPACK says of NaN
            if (!is_finite(a.data_as<T>() + i * m * n, int64_t{m} * n)) check_svd(self, kNotFinite, i);
            check_svd(self, workspace.run(of_matrix(i)), i);
        }
        if (!tall || !vectors) return;
        copy_into(left, u);
        copy_into(right, vh);
    });
}

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

// --- Least squares

// A^H, dense in `memory`.
template <class T>
Matrix<const T> adjoint_in(T* memory, Matrix<const T> a) {
    for (int64_t i = 0; i < a.cols; ++i)
        for (int64_t j = 0; j < a.rows; ++j) memory[i * a.rows + j] = conjugate(a(j, i));
    return row_major<const T>(memory, a.cols, a.rows);
}

// X = V S^+ U^H B through the SVD, singular values up to cut * largest counted as zero. B [m,k] -> X [n,k]
template <class T>
int64_t pseudo_solve(Matrix<const T> u, const real_of<T>* s, Matrix<const T> vh, Matrix<const T> b, double cut,
                     Matrix<T> x) {
    int64_t k = u.cols, rank = 0;
    while (rank<k&& static_cast<double>(s[rank])> cut * static_cast<double>(s[0])) ++rank;
    Scratch<T> coefficients(rank * b.cols), adjoint(std::max(u.rows, vh.cols) * rank);
    const Matrix<T> c = row_major(coefficients.data(), rank, b.cols);
    gemm<T>(T(1), adjoint_in<T>(adjoint, u.block(0, 0, u.rows, rank)), b, T(0), c);
    for (int64_t i = 0; i < rank; ++i)
        for (int64_t j = 0; j < b.cols; ++j) c(i, j) /= s[i];
    gemm<T>(T(1), adjoint_in<T>(adjoint, vh.block(0, 0, rank, vh.cols)), c, T(0), x);
    return rank;
}

void least_squares(Result x, Result ranks, Result s, Result squares, const Tensor& self, const Tensor& b, double cut) {
    const IntSpan batch = batch_sizes(x);
    const int64_t m = rows(self), n = cols(self), k = cols(b), r = std::min(m, n);
    const Tensor right = row_major_copy(b, batch);
    const Tensor u = empty(joined(batch, {m, r}), self.dtype()), vh = empty(joined(batch, {r, n}), self.dtype());
    if (r > 0) svd_kernel(u, s, vh, row_major_copy(self, batch), 'S');
    dispatch_inexact(self.dtype(), "linalg.lstsq", [&]<class T> {
        using R = real_of<T>;
        for (int64_t i = 0; i < ranks->numel(); ++i) {
            const auto left = row_major<const T>(u.data_as<T>() + i * m * r, m, r);
            const auto at = row_major<const T>(right.data_as<T>() + i * m * k, m, k);
            ranks->data_as<int64_t>()[i] =
                pseudo_solve<T>(left, s->data_as<R>() + i * r, row_major<const T>(vh.data_as<T>() + i * r * n, r, n),
                                at, cut, row_major(x->data_as<T>() + i * n * k, n, k));
            if (!squares->defined()) continue;
            // What of B lies outside the range of A: |B|^2 - |U^H B|^2, computed as the norm of the difference.
            Scratch<T> c(r * k), rest(m * k), uh(r * m);
            gemm<T>(T(1), adjoint_in<T>(uh, left), at, T(0), row_major(c.data(), r, k));
            std::copy(at.data, at.data + m * k, rest.data());
            gemm<T>(T(-1), left, row_major<const T>(c.data(), r, k), T(1), row_major(rest.data(), m, k));
            for (int64_t p = 0; p < m; ++p)
                for (int64_t q = 0; q < k; ++q) squares->data_as<R>()[i * k + q] += std::norm(rest[p * k + q]);
        }
    });
}

// --- QR

void qr(Result q, Result r, const Tensor& self) {
    const int m = static_cast<int>(rows(self)), n = static_cast<int>(cols(self)), k = std::min(m, n);
    const int q_cols = q->numel() > 0 ? static_cast<int>(cols(q)) : 0, r_rows = static_cast<int>(rows(r));
    const int width = std::max(n, q_cols);
    const Tensor a = column_major_copy(self);
    dispatch_inexact(self.dtype(), "linalg.qr", [&]<class T> {
        const Blas<T>& routines = routines_for<T>(std::max(m, width));
        Scratch<T> tau(k), factors(int64_t{m} * width);
        const int ld = std::max(m, 1);
        auto factor = [&](T* work, const int* lwork, int* info) {
            routines.geqrf(&m, &n, factors, &ld, tau, work, lwork, info);
        };
        const int reflectors = std::min(k, q_cols);
        auto form = [&](T* work, const int* lwork, int* info) {
            routines.orgqr(&m, &q_cols, &reflectors, factors, &ld, tau, work, lwork, info);
        };
        const Workspace<T> factoring(factor), forming(form);
        for (int64_t i = 0; i < batch_count(self); ++i) {
            const T* from = a.data_as<T>() + i * m * n;
            std::copy(from, from + int64_t{m} * n, factors.data());
            if (k > 0) factoring.run(factor);
            T* upper = r->data_as<T>() + i * r_rows * n;
            for (int64_t j = 0; j < n; ++j)
                for (int64_t p = 0; p < r_rows; ++p) upper[j * r_rows + p] = p <= j ? factors[j * m + p] : T(0);
            if (q_cols == 0) continue;
            if (m > 0) forming.run(form);
            std::copy(factors.data(), factors.data() + int64_t{m} * q_cols, q->data_as<T>() + i * m * q_cols);
        }
    });
}

void geqrf(Result a, Result tau) {
    const int m = static_cast<int>(rows(a)), n = static_cast<int>(cols(a)), k = std::min(m, n);
    dispatch_inexact(a->dtype(), "geqrf", [&]<class T> {
        const Blas<T>& routines = routines_for<T>(std::max(m, n));
        auto of_matrix = [&](int64_t i) {
            return [&, i](T* work, const int* lwork, int* info) {
                routines.geqrf(&m, &n, a->data_as<T>() + i * m * n, &m, tau->data_as<T>() + i * k, work, lwork, info);
            };
        };
        const Workspace<T> workspace(of_matrix(0));
        for (int64_t i = 0; i < batch_count(a); ++i) workspace.run(of_matrix(i));
    });
}

// --- Products of reflections

void orgqr(Result a, const Tensor& tau) {
    const int m = static_cast<int>(rows(a)), n = static_cast<int>(cols(a)), k = static_cast<int>(tau.size(-1));
    const Tensor factors = contiguous(tau);
    dispatch_inexact(a->dtype(), "linalg.householder_product", [&]<class T> {
        const Blas<T>& routines = routines_for<T>(m);
        auto of_matrix = [&](int64_t i) {
            return [&, i](T* work, const int* lwork, int* info) {
                routines.orgqr(&m, &n, &k, a->data_as<T>() + i * m * n, &m, factors.data_as<T>() + i * k, work, lwork,
                               info);
            };
        };
        const Workspace<T> workspace(of_matrix(0));
        for (int64_t i = 0; i < batch_count(a); ++i) workspace.run(of_matrix(i));
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
constinit DeviceKernel<void(Result, Result, Result, const Tensor&, char)> svd_kernel{"linalg_svd", svd,
                                                                                     HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result, const Tensor&, bool)> eigh_kernel{"linalg_eigh", eigh,
                                                                              HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result, const Tensor&)> eig_kernel{"linalg_eig", eig, HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result, Result, Result, const Tensor&, const Tensor&, double)> lstsq_kernel{
    "linalg_lstsq", least_squares, HostWaits::ForErrors};
constinit DeviceKernel<bool(const Tensor&, int64_t)> all_have_rank_kernel{
    "all_have_rank", [](const Tensor& ranks, int64_t rank) {
        const int64_t* all = ranks.data_as<int64_t>();
        return std::all_of(all, all + ranks.numel(), [rank](int64_t r) { return r == rank; });
    }};

}  // namespace wengert::kernels
