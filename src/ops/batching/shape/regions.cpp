#include "ops/batching/shape/regions.h"

#include <algorithm>

#include "generated/ops/formulas/shape/rearranging.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/resize.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"

namespace wengert::ops::batching {

// --- Lists

namespace {

int64_t highest_rank(TensorSpan tensors) {
    int64_t rank = 0;
    for (const Tensor& t : tensors) rank = std::max(rank, t.dim());
    return rank;
}

bool is_empty_vector(const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; }

}  // namespace

Tensor cat(const Batch& batch, TensorSpan tensors, int64_t dim) {
    const int64_t rank = highest_rank(tensors);
    if (rank == 0) throw NoRule{};  // one sample says what is wrong
    TensorList parts;
    for (const Tensor& t : tensors)
        if (rank == 1 || !is_empty_vector(t)) parts.push_back(batch.expanded(t));  // those are left out
    return batch.wrap(ops::cat(parts, shifted(dim, rank)));
}

Tensor stack(const Batch& batch, TensorSpan tensors, int64_t dim) {
    TensorList parts;
    for (const Tensor& t : tensors) parts.push_back(batch.expanded(t));
    return batch.wrap(ops::stack(parts, shifted(dim, tensors[0].dim() + 1)));
}

// Where samples differ in how often, their results may differ in shape.
Tensor repeat_interleave_by(const Batch&, const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                            std::optional<int64_t> output_size) {
    if (is_batched(repeats)) throw NoRule{};
    return formulas::interleaved_by(self, repeats, dim, output_size);
}

// --- Places

Tensor roll(const Batch& batch, const Tensor& self, IntSpan shifts, IntSpan dims) {
    const Tensor value = batch.front(self);
    if (!dims.empty()) {
        if (self.dim() == 0) throw NoRule{};
        return batch.wrap(ops::roll(value, shifts, shifted(dims, self.dim())));
    }
    if (shifts.size() != 1) throw NoRule{};
    const Tensor flat = ops::reshape(value, Dims{batch.size(), self.numel()});
    return batch.wrap(ops::reshape(ops::roll(flat, shifts, Dims{1}), value.sizes()));
}

// Dimensions are those of the result.
Tensor diag_embed(const Batch& batch, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
    if (self.dim() == 0) throw NoRule{};
    const int64_t rank = self.dim() + 1;
    return batch.wrap(ops::diag_embed(batch.front(self), offset, shifted(dim1, rank), shifted(dim2, rank)));
}

const Tensor& fill_diagonal_(const Batch&, const Tensor& self, const Scalar& fill_value, bool wrap) {
    const Tensor chosen = zeros(self.sizes(), DType::Bool, self.device());
    ops::fill_diagonal_(chosen, true, wrap);
    return ops::masked_fill_(self, chosen, full(Dims{}, fill_value, self.dtype(), self.device()));
}

// --- Regions

Tensor select_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t dim, int64_t index) {
    const auto rank = static_cast<int64_t>(sizes.size());
    const Tensor part = batch.aligned(grad_output, rank - 1);
    return batch.wrap(ops::select_backward(part, with_batch(batch, sizes), shifted(dim, rank), index));
}

Tensor slice_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t dim,
                      std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
    const auto rank = static_cast<int64_t>(sizes.size());
    const Tensor part = batch.aligned(grad_output, rank);
    return batch.wrap(ops::slice_backward(part, with_batch(batch, sizes), shifted(dim, rank), start, end, step));
}

Tensor diagonal_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t offset, int64_t dim1,
                         int64_t dim2) {
    const auto rank = static_cast<int64_t>(sizes.size());
    const Tensor part = batch.aligned(grad_output, rank - 1);
    return batch.wrap(
        ops::diagonal_backward(part, with_batch(batch, sizes), offset, shifted(dim1, rank), shifted(dim2, rank)));
}

Tensor unfold_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t dimension, int64_t size,
                       int64_t step) {
    if (sizes.empty()) throw NoRule{};  // a number, seen as one window
    const auto rank = static_cast<int64_t>(sizes.size());
    const Tensor part = batch.aligned(grad_output, rank + 1);
    return batch.wrap(ops::unfold_backward(part, with_batch(batch, sizes), shifted(dimension, rank), size, step));
}

Tensor padded(const Batch& batch, const Tensor& self, IntSpan pad, const Scalar& value) {
    if (static_cast<int64_t>(pad.size()) > 2 * self.dim()) throw NoRule{};
    return batch.wrap(ops::constant_pad_nd(batch.front(self), pad, value));
}

}  // namespace wengert::ops::batching
