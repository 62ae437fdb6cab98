// qr, svd, eigh, eig and what stands on them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/common.h"
#include "kernels/linalg/error.h"
#include "kernels/linalg/linalg.h"

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

// job 'N', 'S' or 'A'; u and vh are undefined for 'N'.
struct SvdResult {
    Tensor u, s, vh;
};

SvdResult svd(const Tensor& self, char job) {
    const char* op = "linalg.svd";
    check_matrix(self, op);
    int m = lapack_int(rows(self), op), n = lapack_int(cols(self), op), k = std::min(m, n);
    int u_cols = job == 'A' ? m : k, vh_rows = job == 'A' ? n : k;
    IntSpan batch = batch_sizes(self);
    SvdResult r;
    r.s = empty(joined(batch, {k}), real_dtype(self.dtype()));
    if (job != 'N') {
        r.u = zeros(joined(batch, {m, u_cols}), self.dtype());
        r.vh = zeros(joined(batch, {vh_rows, n}), self.dtype());
    }
    Tensor a = row_major_copy(self);
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        using R = real_of<T>;
        if (k == 0) {  // bases of the whole space
            for (int64_t i = 0; job == 'A' && i < batch_count(self); ++i) {
                for (int64_t j = 0; j < m; ++j) r.u.data_as<T>()[(i * m + j) * m + j] = T(1);
                for (int64_t j = 0; j < n; ++j) r.vh.data_as<T>()[(i * n + j) * n + j] = T(1);
            }
            return;
        }
        Scratch<int> iwork(8 * int64_t{k});
        int64_t x = std::max(m, n), y = k;
        Scratch<R> rwork(is_complex_type<T> ? std::max(5 * y * y + 5 * y, 2 * x * y + 2 * y * y + y) : 0);
        T nothing{};
        int lda = n, ldu = n, ldvt = std::max(u_cols, 1);
        for (int64_t i = 0; i < batch_count(self); ++i) {
            constexpr int kNotFinite = -4;  // as LAPACK says of NaN
            if (!is_finite(a.data_as<T>() + i * m * n, int64_t{m} * n)) check_svd(self, kNotFinite, i);
            T* u = job == 'N' ? &nothing : r.u.data_as<T>() + i * m * u_cols;
            T* vh = job == 'N' ? &nothing : r.vh.data_as<T>() + i * vh_rows * n;
            int info = with_workspace<T>([&](T* work, const int* lwork, int* result) {
                auto call = [&](auto*... reals) {
                    blas<T>().gesdd(&job, &n, &m, a.data_as<T>() + i * m * n, &lda, r.s.data_as<R>() + i * k, vh, &ldu,
                                    u, &ldvt, work, lwork, reals..., iwork.data(), result);
                };
                if constexpr (is_complex_type<T>)
                    call(rwork.data());
                else
                    call();
            });
            check_svd(self, info, i);
        }
    });
    return r;
}

// --- Hermitian eigenvalues

char triangle_of(std::string_view uplo) {
    char c = uplo.size() == 1 ? static_cast<char>(uplo[0] & ~0x20) : '?';
    check(c == 'L' || c == 'U', ErrorKind::Runtime, "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
    return c;
}

// Eigenvectors replace `a`, which LAPACK sees transposed, so conjugated: they come out as columns of conj(V), column-major.
Tensor hermitian_values(const Tensor& self, const Tensor& a, char triangle, bool vectors) {
    const char* op = "linalg.eigh";
    int n = lapack_int(cols(self), op), ld = std::max(n, 1);
    Tensor w = empty(joined(batch_sizes(self), {n}), real_dtype(self.dtype()));
    if (n == 0) return w;
    const char *job = vectors ? "V" : "N", *uplo = triangle == 'L' ? "U" : "L";
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        using R = real_of<T>;
        for (int64_t i = 0; i < batch_count(self); ++i) {
            T *at = a.data_as<T>() + int64_t{i} * n * n, work_size{};
            R *values = w.data_as<R>() + i * n, rwork_size{};
            int iwork_size = 0, info = 0, query = -1;
            auto call = [&](T* work, const int* lwork, R* rwork, const int* lrwork, int* iwork, const int* liwork) {
                if constexpr (is_complex_type<T>)
                    blas<T>().heevd(job, uplo, &n, at, &ld, values, work, lwork, rwork, lrwork, iwork, liwork, &info);
                else
                    blas<T>().heevd(job, uplo, &n, at, &ld, values, work, lwork, iwork, liwork, &info), (void)rwork,
                        (void)lrwork;
            };
            call(&work_size, &query, &rwork_size, &query, &iwork_size, &query);
            int lwork = std::max(1, static_cast<int>(std::real(work_size)));
            int lrwork = std::max(1, static_cast<int>(rwork_size)), liwork = std::max(1, iwork_size);
            Scratch<T> work(lwork);
            Scratch<R> rwork(lrwork);
            Scratch<int> iwork(liwork);
            call(work.data(), &lwork, rwork.data(), &lrwork, iwork.data(), &liwork);
            check_linalg(
                info == 0, "linalg.eigh: ", batch_element(self, i),
                "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                "eigenvalues (error code: ",
                info, ").");
        }
    });
    return w;
}

// --- General eigenvalues

void check_finite(const Tensor& t, const char* op) {
    dispatch_inexact(t.dtype(), op, [&]<class T> {
        check(is_finite(t.data_as<T>(), t.numel()), ErrorKind::Runtime,
              "linalg.eig: input tensor should not contain infs or NaNs.");
    });
}

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

std::tuple<Tensor, Tensor> eig(const Tensor& self, bool vectors) {
    const char* op = "linalg.eig";
    check_square(self, op);
    Tensor a = column_major_copy(self);
    check_finite(matrix_transposed(a), op);
    int n = lapack_int(cols(self), op), one = 1;
    DType dtype = complex_dtype(self.dtype());
    Tensor w = empty(joined(batch_sizes(self), {n}), dtype), v;
    if (vectors) v = empty_column_major(batch_sizes(self), n, n, dtype);
    if (n == 0) return {w, v};
    const char* job = vectors ? "V" : "N";
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        using R = real_of<T>;
        using C = std::complex<R>;
        Scratch<R> wr(2 * int64_t{n}), wi(n), packed(vectors && !is_complex_type<T> ? int64_t{n} * n : 0);
        for (int64_t i = 0; i < batch_count(self); ++i) {
            T *at = a.data_as<T>() + i * n * n, nothing{};
            C *values = w.data_as<C>() + i * n, *columns = vectors ? v.data_as<C>() + i * n * n : nullptr;
            int ldv = vectors ? n : 1;
            const int exponent = take_scale(at, int64_t{n} * n);
            int info = with_workspace<T>([&](T* work, const int* lwork, int* result) {
                if constexpr (is_complex_type<T>)
                    blas<T>().geev("N", job, &n, at, &n, values, &nothing, &one, vectors ? columns : &nothing, &ldv,
                                   work, lwork, wr.data(), result);
                else
                    blas<T>().geev("N", job, &n, at, &n, wr.data(), wi.data(), &nothing, &one,
                                   vectors ? packed.data() : &nothing, &ldv, work, lwork, result);
            });
            check_linalg(
                info == 0, "linalg.eig: ", batch_element(self, i),
                "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                "eigenvalues (error code: ",
                info, ").");
            if constexpr (!is_complex_type<T>) unpack_pairs<R>(n, wr, wi, packed, values, columns);
            for (int j = 0; j < n; ++j) values[j] = times_power_of_two(values[j], exponent);
        }
    });
    return {w, v};
}

// --- Least squares

// X = V S^+ U^H B through the SVD, singular values up to rcond * largest counted as zero. B [m,k] -> X [n,k]
template <class T>
int64_t pseudo_solve(Matrix<const T> u, const real_of<T>* s, Matrix<const T> vh, Matrix<const T> b, double rcond,
                     Matrix<T> x) {
    int64_t k = u.cols, rank = 0;
    while (rank<k&& static_cast<double>(s[rank])> rcond * static_cast<double>(s[0])) ++rank;
    Scratch<T> coefficients(std::max<int64_t>(rank * b.cols, 1)), adjoint(std::max<int64_t>(u.rows, vh.cols) * rank);
    Matrix<T> c = row_major(coefficients.data(), rank, b.cols);
    auto conjugated = [](const T& value) {
        if constexpr (is_complex_type<T>)
            return std::conj(value);
        else
            return value;
    };
    for (int64_t i = 0; i < rank; ++i)
        for (int64_t j = 0; j < u.rows; ++j) adjoint[i * u.rows + j] = conjugated(u(j, i));
    gemm<T>(T(1), row_major<const T>(adjoint.data(), rank, u.rows), b, T(0), c);
    for (int64_t i = 0; i < rank; ++i)
        for (int64_t j = 0; j < b.cols; ++j) c(i, j) /= s[i];
    for (int64_t i = 0; i < vh.cols; ++i)
        for (int64_t j = 0; j < rank; ++j) adjoint[i * rank + j] = conjugated(vh(j, i));
    gemm<T>(T(1), row_major<const T>(adjoint.data(), vh.cols, rank), c, T(0), x);
    return rank;
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& self, std::string_view mode) {
    const char* op = "linalg.qr";
    check(mode == "reduced" || mode == "complete" || mode == "r", ErrorKind::Runtime, "qr received unrecognized mode '",
          mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
    check_matrix(self, op);
    int m = lapack_int(rows(self), op), n = lapack_int(cols(self), op), k = std::min(m, n);
    bool complete = mode == "complete";
    int q_cols = mode == "r" ? 0 : complete ? m : k, r_rows = complete ? m : k, width = std::max(n, q_cols);
    IntSpan batch = batch_sizes(self);
    Tensor q = mode == "r" ? empty(Dims{0}, self.dtype()) : empty_column_major(batch, m, q_cols, self.dtype());
    Tensor r = empty_column_major(batch, r_rows, n, self.dtype());
    Tensor a = column_major_copy(self);
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        Scratch<T> tau(k), factors(int64_t{m} * width);
        int ld = std::max(m, 1);
        for (int64_t i = 0; i < batch_count(self); ++i) {
            const T* from = a.data_as<T>() + i * m * n;
            std::copy(from, from + int64_t{m} * n, factors.data());
            if (k > 0)
                with_workspace<T>([&](T* work, const int* lwork, int* info) {
                    blas<T>().geqrf(&m, &n, factors, &ld, tau, work, lwork, info);
                });
            T* upper = r.data_as<T>() + i * r_rows * n;
            for (int64_t j = 0; j < n; ++j)
                for (int64_t p = 0; p < r_rows; ++p) upper[j * r_rows + p] = p <= j ? factors[j * m + p] : T(0);
            if (q_cols == 0) continue;
            if (m > 0)
                with_workspace<T>([&](T* work, const int* lwork, int* info) {
                    blas<T>().orgqr(&m, &q_cols, &k, factors, &ld, tau, work, lwork, info);
                });
            std::copy(factors.data(), factors.data() + int64_t{m} * q_cols, q.data_as<T>() + i * m * q_cols);
        }
    });
    return {q, r};
}

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
    check_matrix(self, "geqrf");
    int m = lapack_int(rows(self), "geqrf"), n = lapack_int(cols(self), "geqrf"), k = std::min(m, n),
        ld = std::max(m, 1);
    Tensor a = column_major_copy(self), tau = empty(joined(batch_sizes(self), {k}), self.dtype());
    dispatch_inexact(self.dtype(), "geqrf", [&]<class T> {
        for (int64_t i = 0; k > 0 && i < batch_count(self); ++i)
            with_workspace<T>([&](T* work, const int* lwork, int* info) {
                blas<T>().geqrf(&m, &n, a.data_as<T>() + i * m * n, &ld, tau.data_as<T>() + i * k, work, lwork, info);
            });
    });
    return {a, tau};
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& self, bool full_matrices) {
    SvdResult r = svd(self, full_matrices ? 'A' : 'S');
    return {r.u, r.s, r.vh};
}

Tensor linalg_svdvals(const Tensor& self) { return svd(self, 'N').s; }

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view uplo) {
    check_square(self, "linalg.eigh");
    char triangle = triangle_of(uplo);
    Tensor a = row_major_copy(self);
    Tensor w = hermitian_values(self, a, triangle, true);
    conjugate_(a);
    return {w, matrix_transposed(a)};
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view uplo) {
    check_square(self, "linalg.eigvalsh");
    char triangle = triangle_of(uplo);
    return hermitian_values(self, row_major_copy(self), triangle, false);
}

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) { return eig(self, true); }
Tensor linalg_eigvals(const Tensor& self) { return std::get<0>(eig(self, false)); }

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
    const char* op = "linalg.lstsq";
    check_matrix(self, op);
    check_same_dtype(self, b, op);
    std::string_view name = driver.value_or("gelsy");
    check(name == "gels" || name == "gelsy" || name == "gelsd" || name == "gelss", ErrorKind::Runtime, op,
          ": parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ", name);
    bool vector = b.dim() == self.dim() - 1;
    check(vector || b.dim() == self.dim(), ErrorKind::Runtime, op,
          ": input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1; got ",
          ShapeOf{self.sizes()}, " and ", ShapeOf{b.sizes()});
    Dims sizes = b.sizes(), strides = b.strides();
    if (vector) {
        sizes.push_back(1);
        strides.push_back(1);
    }
    Tensor rhs = alias(b, sizes, strides, b.offset());
    int64_t m = rows(self), n = cols(self), k = cols(rhs), r = std::min(m, n);
    check(rows(rhs) == m, ErrorKind::Runtime, op, ": input.size(-2) should match other.size(", vector ? "-1)" : "-2)",
          ", got ", ShapeOf{self.sizes()}, " and ", ShapeOf{b.sizes()});
    Dims batch = common_batch(self, rhs, op);
    Tensor right = row_major_copy(rhs, batch), x = zeros(joined(batch, {n, k}), self.dtype());
    SvdResult d = svd(row_major_copy(self, batch), 'S');
    Tensor ranks = empty(batch, DType::Int64);
    bool residuals_wanted = name != "gelsy" && m > n, all_full_rank = true;
    Tensor squares = zeros(joined(batch, {k}), real_dtype(self.dtype()));
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        using R = real_of<T>;
        double cut = rcond.value_or(static_cast<double>(std::numeric_limits<R>::epsilon()) *
                                    static_cast<double>(std::max(m, n)));
        if (name == "gels") cut = 0;  // full rank is the caller's word
        for (int64_t i = 0; i < numel_of(batch); ++i) {
            auto u = row_major<const T>(d.u.data_as<T>() + i * m * r, m, r);
            auto vh = row_major<const T>(d.vh.data_as<T>() + i * r * n, r, n);
            auto at = row_major<const T>(right.data_as<T>() + i * m * k, m, k);
            int64_t rank =
                pseudo_solve<T>(u, d.s.data_as<R>() + i * r, vh, at, cut, row_major(x.data_as<T>() + i * n * k, n, k));
            ranks.data_as<int64_t>()[i] = rank;
            all_full_rank &= rank == n;
            // What of B lies outside the range of A: |B|^2 - |U^H B|^2, computed as the norm of the difference.
            if (!residuals_wanted) continue;
            Scratch<T> c(r * k), rest(m * k), uh(r * m);
            for (int64_t p = 0; p < r; ++p)
                for (int64_t q = 0; q < m; ++q) {
                    if constexpr (is_complex_type<T>)
                        uh[p * m + q] = std::conj(u(q, p));
                    else
                        uh[p * m + q] = u(q, p);
                }
            gemm<T>(T(1), row_major<const T>(uh.data(), r, m), at, T(0), row_major(c.data(), r, k));
            std::copy(at.data, at.data + m * k, rest.data());
            gemm<T>(T(-1), u, row_major<const T>(c.data(), r, k), T(1), row_major(rest.data(), m, k));
            for (int64_t p = 0; p < m; ++p)
                for (int64_t q = 0; q < k; ++q) squares.data_as<R>()[i * k + q] += std::norm(rest[p * k + q]);
        }
    });
    Tensor nothing = empty(Dims{0}, real_dtype(self.dtype()));
    if (vector) x = alias(x, joined(batch, {n}), contiguous_strides(joined(batch, {n})), 0);
    return {x, residuals_wanted && all_full_rank ? squares : nothing,
            name == "gels" ? empty(Dims{0}, DType::Int64) : ranks, name == "gelsd" || name == "gelss" ? d.s : nothing};
}

}  // namespace wengert::kernels
