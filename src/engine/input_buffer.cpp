#include "engine/input_buffer.h"

#include "generated/ops/ops.h"
#include "graph/grad_mode.h"
#include "ops/accumulate_grad.h"

namespace wengert {
namespace {

bool may_write(const Tensor& t) {
    return !GradMode::is_enabled() && is_uniquely_owned(t) && !(t.flags() & (kSubclass | kHasTangent)) &&
           t.is_non_overlapping_and_dense();
}

}  // namespace

void InputBuffer::add(size_t i, Tensor grad) {
    if (!grad.defined()) return;
    Tensor& slot = slots_[i];
    if (!slot.defined())
        slot = std::move(grad);
    else if (may_write(slot) && !(grad.flags() & kHasTangent))
        ops::add_(slot, grad);
    else if (may_write(grad) && !(slot.flags() & kHasTangent) && same_shape(slot, grad))
        slot = std::move(ops::add_(grad, slot));
    else
        slot = ops::add(slot, grad);
}

bool InputBuffer::add_part(size_t i, const InputMetadata& metadata, Node& producer, const Tensor& grad) {
    if (GradMode::is_enabled() || (grad.flags() & kHasTangent) || grad.dtype() != metadata.dtype) return false;
    Tensor& slot = slots_[i];
    if (!slot.defined())
        slot = zeros(metadata.sizes, metadata.dtype, metadata.device);
    else if (!may_write(slot))
        slot = ops::clone(slot);
    return producer.accumulate_into(slot, grad);
}

}  // namespace wengert
