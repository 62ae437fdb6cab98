// Writes into samples.
#include <algorithm>

#include "generated/ops/storage.h"
#include "generated/ops/views.h"
#include "graph/graph_gradients.h"
#include "ops/batching/physical.h"

namespace wengert::ops::batching {
namespace {

[[noreturn]] void refuse_write() {
    fail_batch(
        "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but `self` not "
        "being vmapped over in a vmap. Please try to use out-of-place operators instead of inplace arithmetic. (Memory "
        "that the function makes itself may be written, as long as no further view of it is in use.)");
}

// How many tensors of one sample, in all its levels, lie on one memory.
uint32_t layers_of(const Tensor& t) {
    uint32_t count = 1;
    for (const Tensor* inside = &t; is_batched(*inside); inside = &batched_value(*inside).value) ++count;
    return count;
}

void add_levels(Levels& levels, const Tensor& t) {
    for (const Tensor* inside = &t; is_batched(*inside); inside = &batched_value(*inside).value)
        if (BatchLevel* level = batched_value(*inside).level.get(); std::ranges::find(levels, level) == levels.end())
            levels.push_back(level);
}

Levels missing_levels(const Batch& batch, const Tensor& target, TensorSpan written) {
    Levels present, wanted{&batch.level()}, missing;
    add_levels(present, target);
    for (const Tensor& t : written) add_levels(wanted, t);
    for (BatchLevel* level : wanted)
        if (std::ranges::find(present, level) == present.end()) missing.push_back(level);
    std::ranges::sort(missing, {}, &BatchLevel::number);
    return missing;
}

Tensor copies(BatchLevel* level, const Tensor& t) { return ops::clone(Batch(level).expanded(t)); }

// A copy of `t` for each sample of a level, below the deeper levels that it has.
Tensor with_level(BatchLevel* level, const Tensor& t) {
    if (!is_batched(t) || batched_value(t).level->number < level->number) return Batch(level).wrap(copies(level, t));
    const BatchedValue& b = batched_value(t);
    return make_batched(with_level(level, b.value), b.dim, b.level);
}

void become_same(const Tensor& t, const Tensor& sample) {
    const BatchedValue& b = batched_value(sample);
    become_batched(t, b.value, b.dim, b.level);
}

}  // namespace

void ensure_batched(const Batch& batch, const Tensor& target, TensorSpan written) {
    const Levels missing = missing_levels(batch, target, written);
    if (missing.empty()) return;
    const Tensor memory = unbatched(target);
    const ViewInfo* view = view_info(target);
    const bool is_own =
        memory.storage()->batch_level() >= missing.back()->number && !(requires_grad(memory) && is_leaf(memory));
    if (!is_own || memory.storage()->use_count() != layers_of(target) + (view ? 1 : 0)) refuse_write();
    const Tensor base = view ? view->base : target;
    if (view && (is_batched(target) || !base.is_contiguous() || ((target.flags() | base.flags()) & kSubclass)))
        refuse_write();
    Tensor whole = base;
    for (BatchLevel* level : missing) whole = with_level(level, whole);
    if (view) {
        const int64_t place = whole.offset() + target.offset() - base.offset();
        become_same(target, ops::as_strided(whole, target.sizes(), target.strides(), place));
    }
    become_same(base, whole);
}

const Tensor& write_back(const Tensor& target, const Tensor& result) {
    ops::copy_(target, result);
    return target;
}

const Tensor& take_view(const Tensor& target, const Tensor& view) {
    become_same(target, view);
    return target;
}

}  // namespace wengert::ops::batching
