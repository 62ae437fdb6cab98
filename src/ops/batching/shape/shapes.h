// Batching rules of views and copies that are told sizes: the batch is one more size in front.
#pragma once

#include <optional>

#include "ops/batching/batch.h"
#include "tensor/memory_format.h"

namespace wengert::ops::batching {

Tensor view(const Batch& batch, const Tensor& self, IntSpan size);
Tensor reshaped_copy(const Batch& batch, const Tensor& self, IntSpan shape);
Tensor expand(const Batch& batch, const Tensor& self, IntSpan size);
Tensor repeat(const Batch& batch, const Tensor& self, IntSpan repeats);
Tensor sum_to_size(const Batch& batch, const Tensor& self, IntSpan size);

Tensor permute(const Batch& batch, const Tensor& self, IntSpan dims);
Tensor t(const Batch& batch, const Tensor& self);
Tensor squeeze(const Batch& batch, const Tensor& self);

// A view of the storage for each sample, as far apart as samples are.
Tensor as_strided(const Batch& batch, const Tensor& self, IntSpan size, IntSpan stride,
                  std::optional<int64_t> storage_offset);

Tensor clone_memory_format(const Batch& batch, const Tensor& self, std::optional<MemoryFormat> format);

}  // namespace wengert::ops::batching
