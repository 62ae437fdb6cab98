// Derivative formulas of views, and views that are made of others.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Dims inverse_permutation(IntSpan dims);
// Of as_strided(size, stride, storage_offset) of a tensor with the geometry (sizes, strides, offset).
Tensor as_strided_grad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                       std::optional<int64_t> storage_offset);
Tensor as_strided_regrad(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                         IntSpan stride, int64_t storage_offset);

// Of as_strided_scatter: the part of `grad` that lies outside of the region, with zeros in its place, and that inside.
Tensor outside_of_strided(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                          IntSpan stride, std::optional<int64_t> storage_offset);
Tensor inside_of_strided(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                         IntSpan stride, std::optional<int64_t> storage_offset);

// --- Lists of views. Undefined gradients are zeros.
Tensor unbind_grad(TensorSpan grads, IntSpan sizes, DType dtype, int64_t dim);
Tensor split_grad(TensorSpan grads, IntSpan sizes, DType dtype, int64_t split_size, int64_t dim);
Tensor split_with_sizes_grad(TensorSpan grads, IntSpan sizes, DType dtype, IntSpan split_sizes, int64_t dim);
TensorList chunks_of(const Tensor& self, int64_t chunks, int64_t dim);
TensorList unsafe_chunks_of(const Tensor& self, int64_t chunks, int64_t dim);
TensorList sections_of(const Tensor& self, int64_t sections, int64_t dim);
TensorList equal_sections(const Tensor& self, int64_t sections, int64_t dim);
TensorList sections_at(const Tensor& self, IntSpan indices, int64_t dim);
TensorList sections_by(const Tensor& self, const Tensor& sections_or_indices, int64_t dim);  // of 0 or 1 dimensions
TensorList meshgrid_of(TensorSpan tensors, std::string_view indexing);
TensorList broadcast_all(TensorSpan tensors);

// --- Other shapes
Tensor view_or_copy(const Tensor& self, IntSpan shape);
Tensor flattened(const Tensor& self, int64_t start_dim, int64_t end_dim);
Tensor unflattened(const Tensor& self, int64_t dim, IntSpan sizes);
Dims reversed_dims(int64_t n);
Dims moved_dims(int64_t n, IntSpan source, IntSpan destination);  // the permutation that movedim is
Tensor narrowed(const Tensor& self, int64_t dim, int64_t start, int64_t length);
Tensor at_least(const Tensor& self, int64_t dims);
TensorList each_at_least(TensorSpan tensors, int64_t dims);

}  // namespace wengert::ops::formulas
