// The batch as a part of another dimension, for operations on images [N, C, ...] that know no further one.
#pragma once

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

// The tensors of all samples behind one another: images [B * N, C, ...], or vectors and weights. What is the same for
// all samples is repeated.
Tensor joined(const Batch& batch, const Tensor& t);
// Images with more channels, [N, B * C, ...].
Tensor joined_channels(const Batch& batch, const Tensor& t);
// The samples of a result whose dimension `dim` is B * size.
Tensor parted(const Batch& batch, const Tensor& t, int64_t dim, int64_t size);

}  // namespace wengert::ops::batching
