// Batching rules of copies that put elements in other places, and of lists of tensors.
#pragma once

#include <optional>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

Tensor cat(const Batch& batch, TensorSpan tensors, int64_t dim);
Tensor stack(const Batch& batch, TensorSpan tensors, int64_t dim);
Tensor repeat_interleave_by(const Batch& batch, const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                            std::optional<int64_t> output_size);

Tensor roll(const Batch& batch, const Tensor& self, IntSpan shifts, IntSpan dims);
Tensor diag_embed(const Batch& batch, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2);
const Tensor& fill_diagonal_(const Batch& batch, const Tensor& self, const Scalar& fill_value, bool wrap);

// Zeros of shape `sizes` with a tensor in a region of them.
Tensor select_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t dim, int64_t index);
Tensor slice_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t dim,
                      std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);
Tensor diagonal_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t offset, int64_t dim1,
                         int64_t dim2);
Tensor unfold_backward(const Batch& batch, const Tensor& grad_output, IntSpan sizes, int64_t dimension, int64_t size,
                       int64_t step);
// constant_pad_nd
Tensor padded(const Batch& batch, const Tensor& self, IntSpan pad, const Scalar& value);

}  // namespace wengert::ops::batching
