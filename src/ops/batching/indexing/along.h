// Reads and writes along one dimension, which a vector of indices names (rows) or as many indices as elements.
#pragma once

#include <string_view>

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// --- Rows: index_select, index_add, index_copy, index_fill
Tensor selected(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index);
Tensor rows_added(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  const Scalar& alpha);
Tensor rows_copied(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
Tensor rows_filled(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
Tensor rows_filled(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value);

// --- Elements: gather, scatter, scatter of a number, scatter_add, scatter_reduce
Tensor gathered_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad);
Tensor scattered_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
Tensor filled_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
Tensor added_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
Tensor reduced_along(const Batch& batch, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     std::string_view reduce, bool include_self);

}  // namespace wengert::ops::batching
