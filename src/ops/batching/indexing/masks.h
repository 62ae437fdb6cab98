// What a mask selects, in shapes that are the same for all samples; and values everywhere.
#pragma once

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// masked_select, of a mask that is the same for all samples
Tensor selected_by_mask(const Batch& batch, const Tensor& self, const Tensor& mask);
// masked_scatter
Tensor scattered_by_mask(const Batch& batch, const Tensor& self, const Tensor& mask, const Tensor& source);
// nonzero_static
Tensor first_nonzero(const Batch& batch, const Tensor& self, int64_t size, int64_t fill_value);
// fill of a tensor
Tensor filled_with(const Batch& batch, const Tensor& self, const Tensor& value);

}  // namespace wengert::ops::batching
