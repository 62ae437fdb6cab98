// Shapes: views, copies that rearrange elements, and the backward helpers of both.
//
// The first half computes geometry only and returns another tensor on the same storage (tensor/tensor.h, `alias`): no
// element is touched, no graph is known. Names, argument order and errors are PyTorch's.
#pragma once

#include <optional>

#include "tensor/memory_format.h"
#include "tensor/tensor_list.h"

namespace wengert::kernels {

// --- Views
Tensor view(const Tensor& self, IntSpan size);  // an error where a copy would be needed
Tensor view_dtype(const Tensor& self, DType dtype);
Tensor reshape(const Tensor& self, IntSpan shape);  // copies only where it must
Tensor permute(const Tensor& self, IntSpan dims);
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor t(const Tensor& self);
Tensor squeeze(const Tensor& self);
Tensor squeeze_dim(const Tensor& self, int64_t dim);
Tensor squeeze_dims(const Tensor& self, IntSpan dims);
Tensor unsqueeze(const Tensor& self, int64_t dim);
Tensor expand(const Tensor& self, IntSpan size);  // -1 keeps a size
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
Tensor select(const Tensor& self, int64_t dim, int64_t index);
Tensor slice(const Tensor& self, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
             int64_t step = 1);
Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);
Tensor unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step);
Tensor as_strided(const Tensor& self, IntSpan size, IntSpan stride, std::optional<int64_t> storage_offset = {});
Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor movedim(const Tensor& self, IntSpan source, IntSpan destination);
Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1);
Tensor real(const Tensor& self);
Tensor imag(const Tensor& self);
Tensor view_as_real(const Tensor& self);     // [..., ] complex -> [..., 2]
Tensor view_as_complex(const Tensor& self);  // [..., 2] -> [...] complex

TensorList unbind(const Tensor& self, int64_t dim = 0);
TensorList split(const Tensor& self, int64_t split_size, int64_t dim = 0);
TensorList split_with_sizes(const Tensor& self, IntSpan split_sizes, int64_t dim = 0);
TensorList meshgrid(TensorSpan tensors, std::string_view indexing = "ij");

// --- Copies
Tensor full_of(const Tensor& like,
               const Tensor& value);  // of the shape and dtype of `like`, with the one element of `value`
// What a view shows, in fresh memory and row by row.
Tensor fresh(const Tensor& view);
TensorList fresh(const TensorList& views);
// Laid out as asked; as `clone` where nothing is.
Tensor clone_in(const Tensor& self, std::optional<MemoryFormat> format);
Tensor cat(TensorSpan tensors, int64_t dim = 0);
Tensor block_diag(TensorSpan tensors);  // along the diagonal of a matrix of zeros; vectors are rows
Tensor stack(TensorSpan tensors, int64_t dim = 0);
Tensor repeat(const Tensor& self, IntSpan repeats);
// The positions that repeat_interleave gathers: 0 repeats[0] times, 1 repeats[1] times, ...
Tensor repeat_interleave_index(const Tensor& repeats);
Tensor flip(const Tensor& self, IntSpan dims);
Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims = {});
Tensor rot90(const Tensor& self, int64_t k = 1, IntSpan dims = {});
Tensor tril(const Tensor& self, int64_t diagonal = 0);
Tensor triu(const Tensor& self, int64_t diagonal = 0);
void fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap = false);
Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);

// --- Backward helpers: zeros of `sizes` with the region that the view took filled with `grad`.
Tensor select_backward(const Tensor& grad, IntSpan sizes, int64_t dim, int64_t index);
Tensor slice_backward(const Tensor& grad, IntSpan sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step);
Tensor diagonal_backward(const Tensor& grad, IntSpan sizes, int64_t offset, int64_t dim1, int64_t dim2);
Tensor unfold_backward(const Tensor& grad, IntSpan sizes, int64_t dim, int64_t size, int64_t step);
// For a tensor of geometry (sizes, strides, offset) seen through as_strided(size, stride, storage_offset).
Tensor as_strided_backward(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size,
                           IntSpan stride, int64_t storage_offset);
// Which elements of that tensor are seen.
Tensor strided_region(IntSpan sizes, IntSpan strides, int64_t offset, IntSpan size, IntSpan stride,
                      int64_t storage_offset, Device device);
// As the views above, but of a fresh copy: `src` written into that region of a clone of `self`.
Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index);
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0, std::optional<int64_t> start = {},
                     std::optional<int64_t> end = {}, int64_t step = 1);
Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntSpan size, IntSpan stride,
                          std::optional<int64_t> storage_offset = {});
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);

}  // namespace wengert::kernels
