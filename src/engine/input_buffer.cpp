#include "engine/input_buffer.h"

#include "generated/ops/arithmetic.h"
#include "generated/ops/operators.h"
#include "generated/ops/storage.h"
#include "graph/batched.h"
#include "graph/grad_mode.h"
#include "kernels/reductions/nan_check.h"
#include "ops/accumulate_grad.h"

namespace wengert {
namespace {

bool is_plain(const Tensor& t) { return !(t.flags() & (kSubclass | kNotPlain)); }

bool may_write(const Tensor& t) { return is_uniquely_owned(t) && is_plain(t) && t.is_non_overlapping_and_dense(); }

// The tensor that may be written, as one that is no view.
const Tensor& writable(const Tensor& t) {
    drop_base(t);
    return t;
}

}  // namespace

void InputBuffer::add(size_t i, Tensor&& given) {
    if (!given.defined()) return;
    Tensor& slot = slots_[i];
    if (!slot.defined()) {
        slot = std::move(given);
        return;
    }
    if (AnomalyMode::searches_nan()) [[unlikely]]
        return add_in_search_of_nan(slot, std::move(given));
    add_to(slot, std::move(given));
}

void InputBuffer::add_in_search_of_nan(Tensor& slot, Tensor&& given) {
    const auto has_nan = [](const Tensor& t) { return kernels::any_nan(unbatched(t)); };
    const bool had_nan = has_nan(slot) || has_nan(given);
    add_to(slot, std::move(given));
    check(had_nan || !has_nan(slot), ErrorKind::Runtime, "The sum of the gradients that reach '",
          receiver_ ? name_and_place(*receiver_) : "a node", "' is nan, though none of them is: infinities cancel.");
}

void InputBuffer::add_to(Tensor& slot, Tensor&& given) {
    const Tensor grad = std::move(given);
    bool plain = !GradMode::is_enabled() && is_plain(slot) && is_plain(grad) && same_shape(slot, grad) &&
                 slot.dtype() == grad.dtype();
    if (!plain) {
        const NodeGuard current(receiver_ ? receiver_ : current_node());
        slot = ops::add(slot, grad);
        return;
    }
    const Tensor& like = slot.is_non_overlapping_and_dense() ? slot : grad;
    if (like.is_same(slot) && may_write(slot)) {
        ops::add_(writable(slot), grad);
    } else if (may_write(grad) && grad.strides() == like.strides()) {
        ops::add_(writable(grad), slot);
        slot = grad;
    } else {
        Tensor sum = empty_like(like);
        ops::add_out(slot, grad, sum);
        slot = std::move(sum);
    }
}

bool InputBuffer::takes_parts(const InputMetadata& metadata, const Tensor& grad) noexcept {
    return !GradMode::is_enabled() && !(grad.flags() & kNotPlain) && grad.dtype() == metadata.dtype;
}

void InputBuffer::add_part(size_t i, const InputMetadata& metadata, Node& producer, const Tensor& grad) {
    Tensor& slot = slots_[i];
    if (!slot.defined())
        slot = zeros(metadata.sizes, metadata.dtype, metadata.device);
    else if (may_write(slot))
        drop_base(slot);
    else
        slot = ops::clone(slot);
    if (!producer.accumulate_into(slot, grad)) [[unlikely]]
        fail(ErrorKind::Runtime, producer.name(),
             " says that it scatters, but has no accumulate_into; define both or neither");
}

}  // namespace wengert
