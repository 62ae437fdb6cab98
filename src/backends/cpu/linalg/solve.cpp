// LU factors: solve, inv, lu, det.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/common.h"
#include "kernels/linalg/error.h"
#include "kernels/linalg/linalg.h"
#include "kernels/shape/shape.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// The factors of A^T = P L U of row-major matrices, and what is solved with them.
struct Factored {
    Tensor lu;      // row-major copies of A, factored as LAPACK sees them: transposed
    Tensor pivots;  // int32
};

// infos gets LAPACK's result for each matrix.
Factored factor_transposed(const Tensor& a, IntSpan batch, const char* op, int32_t* infos) {
    Factored f{row_major_copy(a, batch), empty(joined(batch, {cols(a)}), DType::Int32)};
    int n = lapack_int(cols(a), op), ld = std::max(n, 1);
    dispatch_inexact(a.dtype(), op, [&]<class T> {
        const Blas<T>& routines = routines_for<T>(n);
        for (int64_t i = 0; i < batch_count(f.lu); ++i) {
            int info = 0;
            routines.getrf(&n, &n, f.lu.data_as<T>() + i * n * n, &ld, f.pivots.data_as<int32_t>() + i * n, &info);
            infos[i] = info;
        }
    });
    return f;
}

// Swaps x_i and x_pivot in the order of factorisation, or backwards. A vector's elements are `stride` apart.
template <class T>
void permute(T* x, int64_t n, int64_t stride, int64_t length, int64_t step, const int32_t* pivots, bool backwards) {
    for (int64_t k = 0; k < n; ++k) {
        int64_t i = backwards ? n - 1 - k : k, j = pivots[i] - 1;
        if (i != j)
            for (int64_t c = 0; c < length; ++c) std::swap(x[i * stride + c * step], x[j * stride + c * step]);
    }
}

// B := A^-1 B, or B A^-1, given P L U = A^T as LAPACK factored it. B [m,k] row-major.
template <class T>
void solve_factored(const T* lu, const int32_t* pivots, T* b, int m, int k, bool left) {
    T one(1);
    int n = left ? m : k, ldlu = std::max(n, 1), ldb = std::max(k, 1);
    const Blas<T>& routines = routines_for<T>(n);
    if (left) {  // A X = B is X^T (P L U) = B^T, and B^T [k,m] is what LAPACK sees
        routines.trsm("R", "U", "N", "N", &k, &m, &one, lu, &ldlu, b, &ldb);
        routines.trsm("R", "L", "N", "U", &k, &m, &one, lu, &ldlu, b, &ldb);
        permute(b, n, k, k, 1, pivots, true);
    } else {  // X A = B is (P L U) X^T = B^T
        permute(b, n, 1, m, k, pivots, false);
        routines.trsm("L", "L", "N", "U", &k, &m, &one, lu, &ldlu, b, &ldb);
        routines.trsm("L", "U", "N", "N", &k, &m, &one, lu, &ldlu, b, &ldb);
    }
}

void check_pivoting(bool pivot, const char* op) {
    check(pivot, ErrorKind::Runtime, op, ": LU without pivoting is not implemented on the CPU");
}

}  // namespace

void check_solvable(const Tensor& a, const Tensor& info) {
    for (int64_t i = 0; i < batch_count(a); ++i)
        check_linalg(info.data_as<int32_t>()[i] == 0, "linalg.solve: ", batch_element(a, i),
                     "The solver failed because the input matrix is singular.");
}

Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
    const char* op = "linalg.solve";
    check_square(a, op);
    check_same_dtype(a, b, op);
    check(b.dim() >= 1, ErrorKind::Runtime, op, ": B must have at least 1 dimension");
    IntSpan vector_shape = IntSpan(a.sizes()).first(a.sizes().size() - 1);
    bool vector = b.dim() == 1 || (b.dim() == a.dim() - 1 && std::equal(vector_shape.begin(), vector_shape.end(),
                                                                        b.sizes().begin(), b.sizes().end()));
    check(left || !vector, ErrorKind::Runtime, op,
          ": Vector broadcasting of the left hand side is not supported for left=False");
    Dims sizes = b.sizes(), strides = b.strides();
    if (vector) {
        sizes.push_back(1);
        strides.push_back(1);
    }
    Tensor rhs = alias(b, sizes, strides, b.offset());
    check_system(a, rhs, left, op);
    Dims batch = common_batch(a, rhs, op);
    Tensor out = row_major_copy(rhs, batch);
    SmallVector<int32_t, 8> infos(static_cast<size_t>(std::max<int64_t>(batch_count(a), 1)));
    Factored f = factor_transposed(a, batch_sizes(a), op, infos.data());
    for (int64_t i = 0; i < batch_count(a); ++i) {
        if (infos[static_cast<size_t>(i)] == 0) continue;
        check_linalg(!check_errors, "linalg.solve: ", batch_element(a, i),
                     "The solver failed because the input matrix is singular.");
        fill_matrix_with_nan(f.lu, i);
    }
    // One factorisation may serve several right-hand sides.
    int64_t n = rows(a);
    Tensor lu = f.lu, pivots = f.pivots;
    if (batch != Dims(batch_sizes(a))) {
        lu = row_major_copy(lu, batch);
        pivots = empty(joined(batch, {n}), DType::Int32);
        copy_into(pivots, f.pivots);
    }
    int m = lapack_int(rows(out), op), k = lapack_int(cols(out), op);
    dispatch_inexact(a.dtype(), op, [&]<class T> {
        for (int64_t i = 0; i < batch_count(out); ++i)
            solve_factored(lu.data_as<T>() + i * n * n, pivots.data_as<int32_t>() + i * n, out.data_as<T>() + i * m * k,
                           m, k, left);
    });
    if (!vector) return out;
    Dims shape(out.sizes().begin(), out.sizes().end() - 1);
    return alias(out, shape, contiguous_strides(shape), 0);
}

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& self, bool check_errors) {
    const char* op = "linalg.inv";
    check_square(self, op);
    Tensor info = int32_zeros(batch_sizes(self));
    int32_t* infos = info.data_as<int32_t>();
    Factored f = factor_transposed(self, batch_sizes(self), op, infos);
    int n = lapack_int(cols(self), op), ld = std::max(n, 1);
    dispatch_inexact(self.dtype(), op, [&]<class T> {  // (A^T)^-1 = (A^-1)^T: row-major in, row-major out
        if (n == 0) return;
        const Blas<T>& routines = routines_for<T>(n);
        with_workspace<T>([&](T* work, const int* lwork, int*) {
            const int64_t matrices = *lwork == -1 ? std::min<int64_t>(batch_count(self), 1) : batch_count(self);
            for (int64_t i = 0; i < matrices; ++i) {
                if (infos[i] != 0) continue;
                int result = 0;
                routines.getri(&n, f.lu.data_as<T>() + i * n * n, &ld, f.pivots.data_as<int32_t>() + i * n, work, lwork,
                               &result);
                infos[i] = result;
            }
        });
    });
    for (int64_t i = 0; i < batch_count(self); ++i) {
        if (infos[i] == 0) continue;
        check_linalg(!check_errors, "linalg.inv: ", batch_element(self, i), "The diagonal element ", infos[i],
                     " is zero, the inversion could not be completed because the input matrix is singular.");
        fill_matrix_with_nan(f.lu, i);
    }
    return {f.lu, info};
}

Tensor linalg_inv(const Tensor& self) { return std::get<0>(linalg_inv_ex(self, true)); }

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& self, bool pivot, bool check_errors) {
    const char* op = "linalg.lu_factor";
    check_matrix(self, op);
    check_pivoting(pivot, op);
    Tensor lu = column_major_copy(self), info = int32_zeros(batch_sizes(self));
    int m = lapack_int(rows(self), op), n = lapack_int(cols(self), op), k = std::min(m, n), ld = std::max(m, 1);
    Tensor pivots = empty(joined(batch_sizes(self), {k}), DType::Int32);
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        for (int64_t i = 0; i < batch_count(self); ++i)
            routines_for<T>(k).getrf(&m, &n, lu.data_as<T>() + i * m * n, &ld, pivots.data_as<int32_t>() + i * k,
                                     info.data_as<int32_t>() + i);
    });
    if (check_errors)
        for (int64_t i = 0; i < batch_count(self); ++i) {
            int32_t bad = info.data_as<int32_t>()[i];
            check_linalg(
                bad == 0, op, ": ", batch_element(self, i), "U[", bad, ",", bad,
                "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
                "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
        }
    return {lu, pivots, info};
}

namespace {

// Row exchanges are written by users too: each must stay inside its matrix.
void check_pivots(const Tensor& lu, const Tensor& pivots, const char* op) {
    const int64_t k = std::min(rows(lu), cols(lu));
    check(pivots.dim() >= 1 && pivots.size(-1) == k, ErrorKind::Runtime, op,
          ": Number of pivots per batch should be same as the dimension of the matrix, but they are ",
          ShapeOf{pivots.sizes()}, " for ", ShapeOf{lu.sizes()});
    const Tensor values = contiguous(pivots);
    const std::span<const int32_t> all(values.data_as<int32_t>(), static_cast<size_t>(values.numel()));
    check(std::ranges::all_of(all, [&](int32_t p) { return p >= 1 && p <= rows(lu); }), ErrorKind::Runtime,
          "Pivots given to ", op,
          " must all be positive and smaller or equal to LU.size(-2). Did you properly pass the "
          "result of lu_factor?");
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu_data, const Tensor& lu_pivots, bool unpack_data,
                                             bool unpack_pivots) {
    check_matrix(lu_data, "lu_unpack", "LU_data");
    check(lu_pivots.dtype() == DType::Int32, ErrorKind::Runtime,
          "[lu_unpack] LU_pivots is expected to be a contiguous tensor of wengert.int32 dtype, got ",
          lu_pivots.dtype());
    if (unpack_pivots) check_pivots(lu_data, lu_pivots, "lu_unpack");
    int64_t m = rows(lu_data), n = cols(lu_data), k = std::min(m, n), batches = batch_count(lu_data);
    IntSpan batch = batch_sizes(lu_data);
    Tensor p = zeros(unpack_pivots ? joined(batch, {m, m}) : Dims{0}, lu_data.dtype());
    Tensor l = zeros(unpack_data ? joined(batch, {m, k}) : Dims{0}, lu_data.dtype());
    Tensor u = zeros(unpack_data ? joined(batch, {k, n}) : Dims{0}, lu_data.dtype());
    Tensor lu = contiguous(lu_data);
    Tensor pivots = unpack_pivots ? contiguous(expand(lu_pivots, joined(batch, {k}))) : Tensor();
    dispatch_inexact(lu_data.dtype(), "lu_unpack", [&]<class T> {
        SmallVector<int64_t, 16> row(static_cast<size_t>(m));
        for (int64_t i = 0; i < batches; ++i) {
            const T* from = lu.data_as<T>() + i * m * n;
            if (unpack_data) {
                T *lower = l.data_as<T>() + i * m * k, *upper = u.data_as<T>() + i * k * n;
                for (int64_t r = 0; r < m; ++r)
                    for (int64_t c = 0; c < n; ++c) {
                        if (c >= r) upper[r * n + c] = from[r * n + c];
                        if (c < r && c < k) lower[r * k + c] = from[r * n + c];
                    }
                for (int64_t r = 0; r < k; ++r) lower[r * k + r] = T(1);
            }
            if (unpack_pivots) {
                for (int64_t r = 0; r < m; ++r) row[static_cast<size_t>(r)] = r;
                for (int64_t r = 0; r < k; ++r)
                    std::swap(row[static_cast<size_t>(r)],
                              row[static_cast<size_t>(pivots.data_as<int32_t>()[i * k + r] - 1)]);
                for (int64_t r = 0; r < m; ++r) p.data_as<T>()[i * m * m + row[static_cast<size_t>(r)] * m + r] = T(1);
            }
        }
    });
    return {p, l, u};
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& self) {
    const char* op = "linalg.slogdet";
    check_square(self, op);
    SmallVector<int32_t, 8> infos(static_cast<size_t>(std::max<int64_t>(batch_count(self), 1)));
    Factored f = factor_transposed(self, batch_sizes(self), op, infos.data());
    Tensor sign = empty(batch_sizes(self), self.dtype()), log = empty(batch_sizes(self), real_dtype(self.dtype()));
    int64_t n = cols(self);
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        using R = real_of<T>;
        for (int64_t i = 0; i < batch_count(self); ++i) {
            const T* lu = f.lu.data_as<T>() + i * n * n;
            T s(1);
            R sum(0);
            for (int64_t r = 0; r < n; ++r) {
                T d = lu[r * n + r];
                R size = std::abs(d);
                if (f.pivots.data_as<int32_t>()[i * n + r] != r + 1) s = -s;
                s = size == R(0) ? T(0) : s * (d / size);
                sum += std::log(size);
            }
            sign.data_as<T>()[i] = s;
            log.data_as<R>()[i] = sum;
        }
    });
    return {sign, log};
}

Tensor linalg_det(const Tensor& self) {
    const char* op = "linalg.det";
    check_square(self, op);
    SmallVector<int32_t, 8> infos(static_cast<size_t>(std::max<int64_t>(batch_count(self), 1)));
    Factored f = factor_transposed(self, batch_sizes(self), op, infos.data());
    Tensor out = empty(batch_sizes(self), self.dtype());
    int64_t n = cols(self);
    dispatch_inexact(self.dtype(), op, [&]<class T> {
        for (int64_t i = 0; i < batch_count(self); ++i) {
            T det(1);
            for (int64_t r = 0; r < n; ++r) {
                det *= f.lu.data_as<T>()[i * n * n + r * n + r];
                if (f.pivots.data_as<int32_t>()[i * n + r] != r + 1) det = -det;
            }
            out.data_as<T>()[i] = det;
        }
    });
    return out;
}

}  // namespace wengert::kernels
