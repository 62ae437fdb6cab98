// Bunch and Kaufman's decomposition of symmetric and Hermitian matrices, indefinite ones too (Some stable methods for
// calculating inertia and solving symmetric linear systems, 1977): A = L D L^T with blocks of one or two on the diagonal of
// D. The format is that of LAPACK's sytrf with the lower triangle: D and the columns of L in one matrix, where rows are
// exchanged from the column on that is eliminated, not before; pivots[k] = p > 0 exchanges k with p - 1, and two equal
// negative ones stand for a block of two, whose second row was exchanged with -p - 1.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "backends/cpu/linalg/lapack.h"

namespace wengert::kernels {

using namespace linalg;

namespace {

// LAPACK sees the columns of a copy.
void factor(Result ld, Result pivots, Result info, bool hermitian) {
    const int n = static_cast<int>(cols(ld));
    const Tensor columns = column_major_copy(ld);
    dispatch_inexact(ld->dtype(), "linalg.ldl_factor", [&]<class T> {
        const Blas<T>& routines = routines_for<T>(n);
        const auto& routine = hermitian || !is_complex_type<T> ? routines.hetrf : routines.sytrf;
        auto of_matrix = [&](int64_t i) {
            return [&, i](T* work, const int* lwork, int* result) {
                routine("L", &n, columns.data_as<T>() + i * n * n, &n, pivots->data_as<int32_t>() + i * n, work, lwork,
                        result);
            };
        };
        const Workspace<T> workspace(of_matrix(0));
        for (int64_t i = 0; i < batch_count(ld); ++i) info->data_as<int32_t>()[i] = workspace.run(of_matrix(i));
        copy_into(ld, columns);
        for (int64_t row = 0; row < batch_count(ld) * n; ++row)
            std::fill_n(ld->data_as<T>() + row * n + row % n + 1, n - 1 - row % n, T(0));
    });
}

void layout(Result rows_of, Result packed_in, Result blocks_of, Result order_of, Result inverse_of,
            const Tensor& pivots) {
    const int64_t n = cols(rows_of);
    const Tensor given = contiguous(pivots);
    for (int64_t m = 0; m < batch_count(rows_of); ++m) {
        const int32_t* p = given.data_as<int32_t>() + m * n;
        int64_t *rows = rows_of->data_as<int64_t>() + m * n * n, *packed = packed_in->data_as<int64_t>() + m * n * n;
        int64_t *order = order_of->data_as<int64_t>() + m * n, *inverse = inverse_of->data_as<int64_t>() + m * n;
        bool* blocks = blocks_of->data_as<bool>() + m * n * n;
        // Which step a column is eliminated in, and the exchanges in order.
        std::vector<std::pair<int64_t, int64_t>> exchanges(static_cast<size_t>(n));  // after column k: k with ...
        for (int64_t k = 0; k < n; ++k) exchanges[static_cast<size_t>(k)] = {k, k};
        for (int64_t k = 0; k < n;) {
            const bool two = p[k] < 0;
            const int64_t at = two ? k + 1 : k, with = std::abs(int64_t{p[k]}) - 1;
            check(with >= at && with < n && at < n && (!two || p[k + 1] == p[k]), ErrorKind::Runtime,
                  "linalg.ldl_solve: pivots are not those of ldl_factor: ", p[k], " at ", k);
            exchanges[static_cast<size_t>(at)] = {at, with};
            for (int64_t i = k; i <= at; ++i)
                for (int64_t j = k; j <= at; ++j) blocks[i * n + j] = true;
            k = at + 1;
        }
        std::vector<int64_t> row(static_cast<size_t>(n));
        for (int64_t k = 0; k < n; ++k) {
            // Rows of column k as they end: exchanges of later blocks only.
            for (int64_t i = 0; i < n; ++i) row[static_cast<size_t>(i)] = i;
            int64_t next = k + 1;
            while (next < n && blocks[next * n + k]) ++next;
            for (int64_t j = next; j < n; ++j)
                std::swap(row[static_cast<size_t>(exchanges[static_cast<size_t>(j)].first)],
                          row[static_cast<size_t>(exchanges[static_cast<size_t>(j)].second)]);
            for (int64_t i = 0; i < n; ++i) {
                rows[i * n + k] = row[static_cast<size_t>(i)];
                packed[row[static_cast<size_t>(i)] * n + k] = i;
            }
        }
        for (int64_t i = 0; i < n; ++i) order[i] = i;
        for (const auto& [a, b] : exchanges) std::swap(order[a], order[b]);
        for (int64_t i = 0; i < n; ++i) inverse[order[i]] = i;
    }
}

}  // namespace

constinit DeviceKernel<void(Result, Result, Result, bool)> ldl_factor_kernel{"linalg_ldl_factor", factor};
constinit DeviceKernel<void(Result, Result, Result, Result, Result, const Tensor&)> ldl_layout_kernel{
    "ldl_layout", layout, HostWaits::ForErrors};

}  // namespace wengert::kernels
