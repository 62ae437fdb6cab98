// What the linear algebra kernels share: checks with PyTorch's wording, copies in the layout of a routine, batches.
#pragma once

#include <string>

#include "kernels/linalg/linalg_kernels.h"
#include "tensor/dtype_limits.h"
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
std::string batch_element(bool in_batch, int64_t index);
inline std::string batch_element(const Tensor& t, int64_t index) { return batch_element(t.dim() > 2, index); }

// An int32 for each matrix, 0 where it was factored; an error where it was not.
inline Tensor zero_info(const Tensor& t) { return zeros(batch_sizes(t), DType::Int32, t.device()); }
inline void check_info(const Tensor& info, const char* op, InfoMessage message) {
    if (info.numel() > 0) check_info_kernel(info, op, message);
}

// A new tensor with t's elements broadcast to `batch`, matrices row-major, everything contiguous.
Tensor row_major_copy(const Tensor& t, IntSpan batch);
inline Tensor row_major_copy(const Tensor& t) { return row_major_copy(t, batch_sizes(t)); }
// Empty and copied, matrices column-major: the last two strides are (1, rows).
Tensor empty_column_major(IntSpan batch, int64_t rows, int64_t cols, DType dtype, Device device);
Tensor column_major_copy(const Tensor& t);
// A view with the last two dimensions exchanged.
Tensor matrix_transposed(const Tensor& t);

}  // namespace wengert::kernels::linalg
