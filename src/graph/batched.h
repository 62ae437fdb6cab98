// Batched tensors: what stands for one sample of a batch while `vmap` runs a function.
//
// A batched tensor holds a tensor with one dimension more, the place of that dimension, and the level of the vmap that
// it belongs to. To whoever asks for its shape it looks like one sample: its own sizes, strides, offset and storage are
// those of the first sample, so nothing that goes by geometry needs to know of batches. Its elements are those of all
// samples, so nothing that reads or writes elements may overlook the flag kBatched; operations meet it in their slow
// path, where ops/batching/ takes over. History and tangents are those of the tensor inside: a batched tensor itself
// has neither.
//
// Levels nest as vmaps do. The tensor inside may itself be a sample of a batch further out, whose level has a smaller
// number. Numbers are never used again, so that a tensor which escapes from its vmap is no sample of a later one.
#pragma once

#include "graph/autograd_meta.h"

namespace wengert {

inline bool is_batched(const TensorImpl* t) noexcept { return t && (t->flags & kBatched); }
inline bool is_batched(const Tensor& t) noexcept { return is_batched(t.impl()); }
// Of a batched tensor.
inline BatchedValue& batched_value(const TensorImpl* t) noexcept { return *meta_of(t)->extras.get()->batched; }
inline BatchedValue& batched_value(const Tensor& t) noexcept { return batched_value(t.impl()); }

// The sample of `value` along `dim`.
Tensor make_batched(Tensor value, int64_t dim, Ref<BatchLevel> level);
// Lets an existing tensor, and every handle of it, stand for a sample of `value` from now on.
void become_batched(const Tensor& t, Tensor value, int64_t dim, Ref<BatchLevel> level);
// The tensor below all levels.
Tensor unbatched(Tensor t);

}  // namespace wengert
