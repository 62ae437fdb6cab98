// Derivative formulas of copies that put elements in other places, and copies that are made of others.
#pragma once

#include <optional>
#include <vector>

#include "tensor/memory_format.h"
#include "tensor/tensor_list.h"

namespace wengert::ops::formulas {

Tensor without_diagonal(const Tensor& grad, bool wrap);
Tensor zeros_of(IntSpan sizes, const Tensor& like);  // in the dtype of `like`
Dims negated(IntSpan values);

Tensor made_contiguous(const Tensor& self, MemoryFormat format = MemoryFormat::Contiguous);

// The coordinates of flat indices.
TensorList unraveled(const Tensor& indices, IntSpan shape);

// --- Joining
TensorList cat_grad(const Tensor& grad, const std::vector<Dims>& sizes, int64_t dim);
TensorList stack_grad(const Tensor& grad, int64_t dim);
Tensor stack_horizontally(TensorSpan tensors);
Tensor stack_vertically(TensorSpan tensors);
Tensor stack_in_depth(TensorSpan tensors);
Tensor stack_columns(TensorSpan tensors);
Tensor block_diagonal(TensorSpan tensors);

// --- Repeating
Tensor repeat_grad(const Tensor& grad, IntSpan sizes, IntSpan repeats);
Dims tile_repeats(int64_t n, IntSpan dims);
Tensor interleaved(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> size = {});
Tensor interleaved_by(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                      std::optional<int64_t> size = {});

Tensor diagonal_or_matrix(const Tensor& self, int64_t diagonal);

Tensor channels_shuffled(const Tensor& self, int64_t groups);
Tensor vandermonde(const Tensor& x, std::optional<int64_t> n, bool increasing);  // [..., k] -> [..., k, n]

}  // namespace wengert::ops::formulas
