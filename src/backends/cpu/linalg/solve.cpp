// LU factors on the CPU: solve, inv, lu, det.
#include <algorithm>
#include <cmath>
#include <span>

#include "backends/cpu/linalg/lapack.h"
#include "kernels/linalg/error.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// Factors row-major matrices as LAPACK sees them: A^T = P L U. infos gets its result for each of them.
void factor_transposed(const Tensor& a, int32_t* pivots, int32_t* infos) {
    const int n = static_cast<int>(cols(a)), ld = std::max(n, 1);
    dispatch_inexact(a.dtype(), "linalg", [&]<class T> {
        const Blas<T>& routines = routines_for<T>(n);
        const int64_t count = batch_count(a);
        for (int64_t i = 0; i < count; ++i) {
            int info = 0;
            routines.getrf(&n, &n, a.data_as<T>() + i * n * n, &ld, pivots + i * n, &info);
            infos[i] = info;
        }
    });
}
struct Factored {
    Tensor lu, pivots;
};
Factored factored(const Tensor& a, int32_t* infos) {
    Factored f{row_major_copy(a), empty(joined(batch_sizes(a), {cols(a)}), DType::Int32)};
    factor_transposed(f.lu, f.pivots.data_as<int32_t>(), infos);
    return f;
}
using Infos = SmallVector<int32_t, 8>;
Infos infos_of(const Tensor& a) { return Infos(static_cast<size_t>(std::max<int64_t>(batch_count(a), 1))); }

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

template <bool kChecked>
void solve(Result out, const Tensor& a, bool left) {
    Infos infos = infos_of(a);
    auto [lu, pivots] = factored(a, infos.data());
    const int64_t factors = batch_count(a), systems = batch_count(out);
    for (int64_t i = 0; i < factors; ++i) {
        if (infos[static_cast<size_t>(i)] == 0) continue;
        check_linalg(!kChecked, "linalg.solve: ", batch_element(a, i),
                     "The solver failed because the input matrix is singular.");
        fill_matrix_with_nan(lu, i);
    }
    // One factorisation may serve several right-hand sides.
    const int64_t n = rows(a);
    const Dims batch(batch_sizes(out));
    if (batch != Dims(batch_sizes(a))) {
        const Tensor each = empty(joined(batch, {n}), DType::Int32);
        copy_into(each, pivots);
        lu = row_major_copy(lu, batch);
        pivots = each;
    }
    const int m = static_cast<int>(rows(out)), k = static_cast<int>(cols(out));
    dispatch_inexact(a.dtype(), "linalg.solve", [&]<class T> {
        for (int64_t i = 0; i < systems; ++i)
            solve_factored(lu.data_as<T>() + i * n * n, pivots.data_as<int32_t>() + i * n,
                           out->data_as<T>() + i * m * k, m, k, left);
    });
}

void invert(Result a, Result info) {
    int32_t* infos = info->data_as<int32_t>();
    const int n = static_cast<int>(cols(a)), ld = n;
    const int64_t count = batch_count(a);
    const Tensor pivots = empty(joined(batch_sizes(a), {n}), DType::Int32);
    factor_transposed(a, pivots.data_as<int32_t>(), infos);
    dispatch_inexact(a->dtype(), "linalg.inv", [&]<class T> {  // (A^T)^-1 = (A^-1)^T: row-major in, row-major out
        const Blas<T>& routines = routines_for<T>(n);
        auto of_matrix = [&](int64_t i) {
            return [&, i](T* work, const int* lwork, int* result) {
                routines.getri(&n, a->data_as<T>() + i * n * n, &ld, pivots.data_as<int32_t>() + i * n, work, lwork,
                               result);
            };
        };
        const Workspace<T> workspace(of_matrix(0));
        for (int64_t i = 0; i < count; ++i)
            if (infos[i] == 0) infos[i] = workspace.run(of_matrix(i));
    });
    for (int64_t i = 0; i < count; ++i)
        if (infos[i] != 0) fill_matrix_with_nan(a, i);
}

void lu_factor(Result lu, Result pivots, Result info) {
    const int m = static_cast<int>(rows(lu)), n = static_cast<int>(cols(lu)), k = std::min(m, n);
    dispatch_inexact(lu->dtype(), "linalg.lu_factor", [&]<class T> {
        for (int64_t i = 0; i < batch_count(lu); ++i)
            routines_for<T>(k).getrf(&m, &n, lu->data_as<T>() + i * m * n, &m, pivots->data_as<int32_t>() + i * k,
                                     info->data_as<int32_t>() + i);
    });
}

void check_pivots(const Tensor& pivots, int64_t rows, const char* op) {
    const Tensor values = contiguous(pivots);
    const std::span<const int32_t> all(values.data_as<int32_t>(), static_cast<size_t>(values.numel()));
    check(std::ranges::all_of(all, [rows](int32_t p) { return p >= 1 && p <= rows; }), ErrorKind::Runtime,
          "Pivots given to ", op,
          " must all be positive and smaller or equal to LU.size(-2). Did you properly pass the "
          "result of lu_factor?");
}

void unpack(Result p, Result l, Result u, const Tensor& lu_data, const Tensor& lu_pivots) {
    const int64_t m = rows(lu_data), n = cols(lu_data), k = std::min(m, n), batches = batch_count(lu_data);
    const bool unpack_data = l->numel() > 0, unpack_pivots = p->numel() > 0;
    const Tensor lu = contiguous(lu_data), pivots = unpack_pivots ? contiguous(lu_pivots) : Tensor();
    dispatch_inexact(lu_data.dtype(), "lu_unpack", [&]<class T> {
        SmallVector<int64_t, 16> row(static_cast<size_t>(m));
        for (int64_t i = 0; i < batches; ++i) {
            const T* from = lu.data_as<T>() + i * m * n;
            if (unpack_data) {
                T *lower = l->data_as<T>() + i * m * k, *upper = u->data_as<T>() + i * k * n;
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
                for (int64_t r = 0; r < m; ++r) p->data_as<T>()[i * m * m + row[static_cast<size_t>(r)] * m + r] = T(1);
            }
        }
    });
}

void row_order(Result order, const Tensor& lu_pivots, bool inverse) {
    const Tensor pivots = contiguous(lu_pivots);
    int64_t* row = order->data_as<int64_t>();
    const int64_t m = order->numel();
    for (int64_t r = 0; r < m; ++r) row[r] = r;
    for (int64_t r = 0; r < pivots.numel(); ++r) std::swap(row[r], row[pivots.data_as<int32_t>()[r] - 1]);
    if (!inverse) return;
    const SmallVector<int64_t, 16> forwards(row, row + m);
    for (int64_t r = 0; r < m; ++r) row[forwards[static_cast<size_t>(r)]] = r;
}

void slogdet(Result sign, Result log, const Tensor& self) {
    Infos infos = infos_of(self);
    const Factored f = factored(self, infos.data());
    const int64_t n = cols(self);
    dispatch_inexact(self.dtype(), "linalg.slogdet", [&]<class T> {
        using R = real_of<T>;
        const int64_t count = batch_count(self);
        for (int64_t i = 0; i < count; ++i) {
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
            sign->data_as<T>()[i] = s;
            log->data_as<R>()[i] = sum;
        }
    });
}

void det(Result out, const Tensor& self) {
    Infos infos = infos_of(self);
    const Factored f = factored(self, infos.data());
    const int64_t n = cols(self);
    dispatch_inexact(self.dtype(), "linalg.det", [&]<class T> {
        const int64_t count = batch_count(self);
        for (int64_t i = 0; i < count; ++i) {
            T product(1);
            for (int64_t r = 0; r < n; ++r) {
                product *= f.lu.data_as<T>()[i * n * n + r * n + r];
                if (f.pivots.data_as<int32_t>()[i * n + r] != r + 1) product = -product;
            }
            out->data_as<T>()[i] = product;
        }
    });
}

}  // namespace

using Solve = void(Result, const Tensor&, bool);

constinit DeviceKernel<Solve> solve_kernel{"linalg_solve", solve<false>};
constinit DeviceKernel<Solve> solve_checked_kernel{"linalg_solve", solve<true>, HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result)> inverse_kernel{"linalg_inv", invert};
constinit DeviceKernel<void(Result, Result, Result)> lu_factor_kernel{"linalg_lu_factor", lu_factor};
constinit DeviceKernel<void(const Tensor&, int64_t, const char*)> check_pivots_kernel{"check_pivots", check_pivots,
                                                                                      HostWaits::ForErrors};
constinit DeviceKernel<void(Result, Result, Result, const Tensor&, const Tensor&)> lu_unpack_kernel{"lu_unpack",
                                                                                                    unpack};
constinit DeviceKernel<void(Result, const Tensor&, bool)> lu_row_order_kernel{"lu_row_order", row_order};
constinit DeviceKernel<void(Result, const Tensor&)> det_kernel{"linalg_det", det};
constinit DeviceKernel<void(Result, Result, const Tensor&)> slogdet_kernel{"linalg_slogdet", slogdet};

}  // namespace wengert::kernels
