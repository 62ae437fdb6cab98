// What the CPU's linear algebra shares: the choice of routines, their workspaces, and what they may get.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/cpu/linalg/blas.h"
#include "backends/cpu/linalg/portable_lapack.h"
#include "backends/cpu/products/gemm.h"
#include "backends/cpu/reductions/finite_table.h"
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
    if constexpr (std::is_same_v<T, float>)
        return finite_table().float32(data, count);
    else if constexpr (std::is_same_v<T, double>)
        return finite_table().float64(data, count);
    else
        return std::all_of(data, data + count, [](T x) { return std::isfinite(std::abs(x)); });
}

// What a routine works in, for all matrices of one size. It is asked how much it wants: routine(work, lwork, info) with
// lwork == -1.
template <class T>
class Workspace {
public:
    template <class F>
    explicit Workspace(F&& routine) : size_(wanted(routine)), memory_(size_) {}

    // The routine's info.
    template <class F>
    int run(F&& routine) const {
        int info = 0;
        routine(memory_.data(), &size_, &info);
        return info;
    }

private:
    template <class F>
    static int wanted(F& routine) {
        T wanted{};
        int query = -1, info = 0;
        routine(&wanted, &query, &info);
        return std::max(1, static_cast<int>(std::real(wanted)));
    }

    const int size_;
    const Scratch<T> memory_;
};

}  // namespace wengert::kernels::linalg
