// Indexing by tensors: NumPy's advanced indexing, PyTorch's index_*/gather/scatter/masked_* families, embedding.
//
// Functions that end in `_` write into `self`, in the order of the index elements: where two indices name one
// element the last write wins, and sums are added in that order, always. Every index is checked before anything is
// written; the error names index, dimension and size. Negative indices count from the end in index, index_put, take
// and put only, as in PyTorch (and in index_fill, index_copy, index_add, where they are harmless).
#pragma once

#include <optional>

#include "tensor/tensor_list.h"

namespace wengert::kernels {

// --- self[indices]: one entry per dimension, undefined for a full slice. Integer tensors broadcast together; a
// bool mask stands for the index tensors of its nonzero elements. The broadcast dimensions take the place of the
// indexed ones where these are adjacent, else they come first.
Tensor index(const Tensor& self, TensorSpan indices);
void index_put_(const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate = false);
Tensor index_put(const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate = false);
Tensor index_backward(const Tensor& grad, IntSpan sizes, TensorSpan indices);  // zeros with grad added
// As index, but zero where a later element of the indices names the same place: what of an index_put survives.
Tensor index_survivors(const Tensor& self, TensorSpan indices);
Tensor nonzero(const Tensor& self);  // [n, dim]: the positions of the nonzero elements, in order
Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value = -1);  // the first `size` of them
TensorList nonzero_numpy(const Tensor& self);                                      // its columns

// --- Along one dimension
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
Tensor index_select_backward(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index);
void index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value);  // 0-dimensional
void fill_with_(const Tensor& self, const Tensor& value);                                     // likewise
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value);

// --- Element by element along one dimension: out[i][j] = self[index[i][j]][j] for dim 0
Tensor gather(const Tensor& self, int64_t dim, const Tensor& index);
// As gather, but zero where a later element of the index names the same place: what of a scatter survives.
Tensor gather_survivors(const Tensor& self, int64_t dim, const Tensor& index);
Tensor gather_backward(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index);
void scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
void scatter_value_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
void scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
// reduce: "sum", "prod", "mean", "amax" or "amin"
void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                     bool include_self = true);
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self = true);

// --- As if flat
Tensor take(const Tensor& self, const Tensor& index);
Tensor take_backward(const Tensor& grad, IntSpan sizes, const Tensor& index);
void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);

// --- Masks broadcast to self
Tensor masked_select(const Tensor& self, const Tensor& mask);
Tensor masked_select_backward(const Tensor& grad, IntSpan sizes, const Tensor& mask);
void masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source);
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);
Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, IntSpan sizes);  // with respect to source

// --- Rows of a table
Tensor embedding(const Tensor& weight, const Tensor& indices);
// Rows of `grad` [.., n] added into [num_weights, n]; row padding_idx stays zero; scale_grad_by_freq divides by the
// count.
Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx = -1, bool scale_grad_by_freq = false);
Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace wengert::kernels
