// Samples of several levels, as the tensors on which differentiation happens.
//
// The physical tensor of a sample has the shape (sizes of the batches, outermost first, then the sizes of the sample);
// of a tensor that is the same in a batch it is expanded over that. Since samples never mix, one pass of the engine
// over physical tensors gives the gradients of all samples. A batch that was opened later than those named stays one.
#pragma once

#include "ops/batching/batch.h"

namespace wengert::ops::batching {

using Levels = SmallVector<BatchLevel*, 4>;  // from the outermost

Tensor physical(const Tensor& t, const Levels& levels);
Tensor logical(const Tensor& t, const Levels& levels);  // the inverse

// Applies a function that keeps the shape to the tensor below all levels, and wraps what it returns as the tensor was.
template <class F>
Tensor map_physical(F&& f, const Tensor& t) {
    if (!is_batched(t)) return f(t);
    const BatchedValue& b = batched_value(t);
    return make_batched(map_physical(f, b.value), b.dim, b.level);
}

}  // namespace wengert::ops::batching
