#include "ops/batching/indexing/masks.h"

#include "generated/ops/comparison.h"
#include "generated/ops/formulas/shape/rearranging.h"
#include "generated/ops/indexing.h"
#include "generated/ops/rearranging.h"
#include "generated/ops/reductions.h"
#include "generated/ops/scans.h"
#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "generated/ops/where.h"
#include "kernels/creation.h"
#include "kernels/shape/shape.h"

namespace wengert::ops::batching {

// The n-th element that the mask selects is the n-th of the source.
Tensor selected_by_mask(const Batch& batch, const Tensor& self, const Tensor& mask) {
    if (batch.has(mask)) refuse_dynamic("masked_select");
    if (mask.dtype() != DType::Bool) throw NoRule{};
    const Dims shape = broadcast_shapes(self.sizes(), mask.sizes(), "masked_select");
    const Tensor flat_mask = ops::reshape(ops::expand(mask, shape), Dims{-1});
    return ops::index(ops::reshape(ops::expand(self, shape), Dims{-1}), TensorList{flat_mask});
}

Tensor scattered_by_mask(const Batch&, const Tensor& self, const Tensor& mask, const Tensor& source) {
    if (mask.dtype() != DType::Bool || source.dtype() != self.dtype() || source.numel() == 0) throw NoRule{};
    const Dims sizes = broadcast_shapes(self.sizes(), mask.sizes(), "masked_scatter");
    const Tensor wide = ops::expand(mask, sizes), flat = ops::reshape(wide, Dims{numel_of(sizes)});
    const Tensor place = ops::where(flat, ops::cumsum(flat, 0) - 1, 0);
    const Tensor found = ops::gather(ops::reshape(source, Dims{source.numel()}), 0, place);
    return ops::where(wide, ops::reshape(found, sizes), self);
}

Tensor first_nonzero(const Batch&, const Tensor& self, int64_t size, int64_t fill_value) {
    const int64_t n = self.numel();
    if (self.dim() == 0 || n == 0 || size < 0) throw NoRule{};
    const Tensor zero = ops::reshape(ops::eq(self, 0), Dims{n});  // those that are not come first, in their order
    const Tensor places = ops::slice(ops::argsort(zero, 0, false, true), 0, 0, size);
    Tensor rows = ops::stack(formulas::unraveled(places, self.sizes()), 1);
    if (size > n) {
        const Tensor parts[] = {rows, zeros(Dims{size - n, self.dim()}, DType::Int64, self.device())};
        rows = ops::cat(parts, 0);
    }
    const Tensor number = kernels::reshape(kernels::arange(0, size, 1, beside(self)), Dims{size, 1});
    return ops::where(ops::lt(number, ops::sum(ops::logical_not(zero))), rows, fill_value);
}

Tensor filled_with(const Batch&, const Tensor& self, const Tensor& value) {
    if (value.dim() != 0) throw NoRule{};
    return ops::where(full(self.sizes(), true, DType::Bool, self.device()), ops::to_dtype(value, self.dtype()), self);
}

}  // namespace wengert::ops::batching
