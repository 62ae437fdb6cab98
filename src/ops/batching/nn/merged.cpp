#include "ops/batching/nn/merged.h"
#include "generated/ops/views.h"

namespace wengert::ops::batching {

Tensor joined(const Batch& batch, const Tensor& t) { return t.defined() ? ops::flatten(batch.expanded(t), 0, 1) : t; }

Tensor joined_channels(const Batch& batch, const Tensor& t) {
    return ops::flatten(ops::transpose(batch.expanded(t), 0, 1), 1, 2);  // [B, N, C, ...] -> [N, B, C, ...]
}

Tensor parted(const Batch& batch, const Tensor& t, int64_t dim, int64_t size) {
    Dims sizes = t.sizes();
    const auto at = static_cast<size_t>(dim);
    sizes[at] = size;
    sizes.insert(at, batch.size());
    return batch.wrap(ops::reshape(t, sizes), dim);
}

}  // namespace wengert::ops::batching
