// What the linear algebra kernels share: checks with PyTorch's wording, copies in the layout a routine needs, batches.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>

#include "backends/cpu/linalg/blas.h"
#include "backends/cpu/linalg/portable_lapack.h"
#include "backends/cpu/products/gemm.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/tensor.h"

namespace wengert::kernels::linalg {

inline int64_t rows(const Tensor& t) { return t.sizes()[t.sizes().size() - 2]; }
inline int64_t cols(const Tensor& t) { return t.sizes()[t.sizes().size() - 1]; }
inline IntSpan batch_sizes(const Tensor& t) { return IntSpan(t.sizes()).first(t.sizes().size() - 2); }
inline int64_t batch_count(const Tensor& t) { return numel_of(batch_sizes(t)); }

// (batch..., tail...)
inline Dims joined(IntSpan batch, std::initializer_list<int64_t> tail) {
    Dims sizes(batch);
    for (int64_t s : tail) sizes.push_back(s);
    return sizes;
}

std::string_view type_name(const Tensor& t);  // "Float"
void check_inexact(const Tensor& t, const char* op);
void check_matrix(const Tensor& t, const char* op, const char* name = "A");
void check_square(const Tensor& t, const char* op);
void check_same_dtype(const Tensor& a, const Tensor& b, const char* op);
// A X = B, or X A = B.
void check_system(const Tensor& a, const Tensor& b, bool left, const char* op);
// Batches of A and B broadcast against each other.
Dims common_batch(const Tensor& a, const Tensor& b, const char* op);
int lapack_int(int64_t n, const char* op);
// "(Batch element 3): ", where there is a batch.
std::string batch_element(const Tensor& t, int64_t index);

inline Tensor int32_zeros(IntSpan sizes) { return zeros(sizes, DType::Int32); }

// A new tensor with t's elements broadcast to `batch`, matrices row-major, everything contiguous.
Tensor row_major_copy(const Tensor& t, IntSpan batch);
inline Tensor row_major_copy(const Tensor& t) { return row_major_copy(t, batch_sizes(t)); }
// Empty and copied, matrices column-major: the last two strides are (1, rows).
Tensor empty_column_major(IntSpan batch, int64_t rows, int64_t cols, DType dtype);
Tensor column_major_copy(const Tensor& t, IntSpan batch);
inline Tensor column_major_copy(const Tensor& t) { return column_major_copy(t, batch_sizes(t)); }
// A view with the last two dimensions exchanged.
Tensor matrix_transposed(const Tensor& t);
// For complex tensors, in place.
void conjugate_(const Tensor& t);

// One matrix of a batch that was made here.
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
