#include "kernels/linalg/common.h"

#include <climits>
#include <limits>

#include "kernels/elementwise/elementwise.h"

namespace wengert::kernels::linalg {

std::string_view type_name(const Tensor& t) {
    std::string_view name = legacy_type_name(t.dtype());
    return name.substr(0, name.size() - std::string_view("Tensor").size());
}

void check_inexact(const Tensor& t, const char* op) {
    check(is_differentiable(t.dtype()), ErrorKind::Runtime, op,
          ": Expected a floating point or complex tensor as input. Got ", type_name(t), "; convert it first");
}

void check_matrix(const Tensor& t, const char* op, const char* name) {
    check(t.dim() >= 2, ErrorKind::Runtime, op, ": The input tensor ", name, " must have at least 2 dimensions. Got ",
          ShapeOf{t.sizes()});
    check_inexact(t, op);
}

void check_square(const Tensor& t, const char* op) {
    check_matrix(t, op);
    check(rows(t) == cols(t), ErrorKind::Runtime, op, ": A must be batches of square matrices, but they are ", rows(t),
          " by ", cols(t), " matrices");
}

void check_same_dtype(const Tensor& a, const Tensor& b, const char* op) {
    check(a.dtype() == b.dtype(), ErrorKind::Runtime, op,
          ": Expected A and B to have the same dtype, but found A of type ", type_name(a), " and B of type ",
          type_name(b), " instead");
}

void check_system(const Tensor& a, const Tensor& b, bool left, const char* op) {
    int64_t n = left ? rows(b) : cols(b);
    check(rows(a) == n, ErrorKind::Runtime, op, ": Incompatible shapes of A and B for the equation ",
          left ? "AX = B" : "XA = B", " (", rows(a), "x", cols(a), " and ", rows(b), "x", cols(b), ")");
}

Dims common_batch(const Tensor& a, const Tensor& b, const char* op) {
    return broadcast_shapes(batch_sizes(a), batch_sizes(b), op);
}

int lapack_int(int64_t n, const char* op) {
    check(n <= INT_MAX, ErrorKind::Runtime, op, ": a dimension of ", n, " exceeds LAPACK's 32-bit integers");
    return static_cast<int>(n);
}

std::string batch_element(bool in_batch, int64_t index) {
    return in_batch ? "(Batch element " + std::to_string(index) + "): " : "";
}

Tensor row_major_copy(const Tensor& t, IntSpan batch) {
    Tensor out = empty(joined(batch, {rows(t), cols(t)}), t.dtype(), t.device());
    copy_into(out, t);
    return out;
}

Tensor empty_column_major(IntSpan batch, int64_t rows, int64_t cols, DType dtype, Device device) {
    return matrix_transposed(empty(joined(batch, {cols, rows}), dtype, device));
}

Tensor column_major_copy(const Tensor& t) {
    Tensor out = empty_column_major(batch_sizes(t), rows(t), cols(t), t.dtype(), t.device());
    copy_into(out, t);
    return out;
}

Tensor matrix_transposed(const Tensor& t) {
    Dims sizes = t.sizes(), strides = t.strides();
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
    return alias(t, sizes, strides, t.offset());
}

}  // namespace wengert::kernels::linalg
