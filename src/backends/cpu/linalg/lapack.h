// What the CPU's linear algebra shares: the choice of routines, their workspaces, and what they may get.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/cpu/linalg/blas.h"
#include "backends/cpu/linalg/portable_lapack.h"
#include "backends/cpu/products/gemm.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linalg/common.h"

namespace wengert::kernels::linalg {

// Of a dense tensor that is complex, in place.
void conjugate_(const Tensor& t);
// One matrix of a batch without gaps.
void fill_matrix_with_nan(const Tensor& t, int64_t index);

// Up to this order a call of a provider costs more than the arithmetic: batches of small matrices use our own loops.
inline constexpr int64_t kOwnOrder = 8;
template <class T>
const Blas<T>& routines_for(int64_t order) {
    static const Blas<T> own = portable::routines<T>();
    return order <= kOwnOrder ? own : blas<T>();
}

// Whether LAPACK may have it: with an infinity, or a magnitude that is one, some routines never end.
template <class T>
bool is_finite(const T* data, int64_t count) {
    return std::all_of(data, data + count, [](T x) { return std::isfinite(std::abs(x)); });
}

// Calls routine(work, lwork, info) twice: for the size of the workspace, then with it. Returns info.
template <class T, class F>
int with_workspace(F&& routine) {
    T wanted{};
    int query = -1, info = 0;
    routine(&wanted, &query, &info);
    int size = static_cast<int>(std::real(wanted));
    if (size < 1) size = 1;
    Scratch<T> work(size);
    routine(work.data(), &size, &info);
    return info;
}

}  // namespace wengert::kernels::linalg
