// Indexing by tensors: x[...] and x[...] = v.
//
// An index that is the same for all samples stands behind the batch. One that differs becomes an index of the batch,
// beside a counter of samples [B, 1..]: the indexed dimensions then come first, and what is read or written is moved.
#pragma once

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// Whether these are positions: neither a mask nor anything that kernels refuse.
bool is_index(const Tensor& t) noexcept;

// index. An undefined entry takes a dimension whole.
Tensor gathered(const Batch& batch, const Tensor& self, TensorSpan indices);
// index_put
Tensor scattered(const Batch& batch, const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate);
// index_put_
const Tensor& put(const Batch& batch, const Tensor& self, TensorSpan indices, const Tensor& values, bool accumulate);
// take
Tensor taken(const Batch& batch, const Tensor& self, const Tensor& index);

}  // namespace wengert::ops::batching
