#include "ops/batching/linalg/products.h"

#include <algorithm>

#include "generated/ops/indexing.h"
#include "generated/ops/matmul.h"
#include "generated/ops/reductions.h"
#include "generated/ops/views.h"
#include "kernels/creation.h"

namespace wengert::ops::batching {
namespace {

using Multiply = Tensor (*)(const Tensor&, const Tensor&);

// Vectors become matrices, the batch comes in front, the other dimensions broadcast.
Tensor product(const Batch& batch, const Tensor& a, const Tensor& b, Multiply multiply) {
    check(a.dim() > 0 && b.dim() > 0, ErrorKind::Runtime,
          "both arguments to matmul need to be at least 1D, but they are ", a.dim(), "D and ", b.dim(), "D");
    const bool row = a.dim() == 1, column = b.dim() == 1;
    // One matrix for all: a larger product instead of many.
    if (!batch.has(b) && b.dim() <= 2) return batch.wrap(multiply(batch.front(a), b));
    if (!batch.has(a) && a.dim() <= 2 && column)
        return batch.wrap(multiply(batch.front(b), row ? a : ops::transpose(a, 0, 1)));
    const Tensor left = row ? ops::unsqueeze(a, 0) : a, right = column ? ops::unsqueeze(b, 1) : b;
    const int64_t rank = std::max(left.dim(), right.dim());
    Tensor out = multiply(batch.aligned(left, rank), batch.aligned(right, rank));  // [B, ..., m, n]
    if (row) out = ops::select(out, -2, 0);
    if (column) out = ops::select(out, -1, 0);
    return batch.wrap(std::move(out));
}

}  // namespace

Tensor matrix_product(const Batch& batch, const Tensor& a, const Tensor& b) {
    return product(batch, a, b, ops::matmul);
}

Tensor matrix_product(const Batch& batch, const Tensor& a, const Tensor& b, int64_t rank_a, int64_t rank_b) {
    if (a.dim() != rank_a || b.dim() != rank_b) throw NoRule{};  // one sample says what is wrong
    return product(batch, a, b, ops::matmul);
}

Tensor matrix_product_chain(const Batch& batch, const Tensor& a, const Tensor& b) {
    return product(batch, a, b, ops::matmul_chain);
}

// The composition for a batch is one product, unless samples have weights of their own; a bias that is one for all
// numbers of a sample must not meet the batch.
Tensor affine_map(const Batch& batch, const Tensor& input, const Tensor& weight, const Tensor& bias) {
    const bool is_matrix = weight.dim() == 2;
    if (input.dim() == 0 || (!is_matrix && weight.dim() != 1)) throw NoRule{};
    if (!batch.has(weight) && !batch.has(bias) && (!bias.defined() || bias.dim() < weight.dim()))
        return batch.wrap(ops::linear(batch.front(input), weight, bias));
    const Tensor out = ops::matmul(input, is_matrix ? ops::transpose(weight, 0, 1) : weight);
    return bias.defined() ? out + bias : out;
}

// Of rows i < j.
Tensor distances_of_pairs(const Batch& batch, const Tensor& rows, double p) {
    if (rows.dim() != 2 || rows.size(1) == 0) throw NoRule{};
    const int64_t n = rows.size(0);
    const Tensor pairs = kernels::triu_indices(n, n, 1, beside(rows)), value = batch.front(rows);
    const Tensor first = ops::index_select(value, 1, ops::select(pairs, 0, 0)),
                 second = ops::index_select(value, 1, ops::select(pairs, 0, 1));
    return batch.wrap(ops::linalg_vector_norm(first - second, p, Dims{-1}));
}

}  // namespace wengert::ops::batching
