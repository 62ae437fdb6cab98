#include "ops/batching/physical.h"
#include "generated/ops/views.h"

namespace wengert::ops::batching {
namespace {

// Whether the outermost wrapper of `t` belongs to a batch that was opened after these.
bool is_of_later_batch(const Tensor& t, const Levels& levels) {
    return is_batched(t) && batched_value(t).level->number > levels[levels.size() - 1]->number;
}

}  // namespace

Tensor physical(const Tensor& t, const Levels& levels) {
    if (levels.empty()) return t;
    if (is_of_later_batch(t, levels)) {
        const BatchedValue& b = batched_value(t);
        return make_batched(physical(b.value, levels), b.dim + static_cast<int64_t>(levels.size()), b.level);
    }
    Tensor p = t;
    for (size_t i = levels.size(); i > 0; --i) p = Batch(levels[i - 1]).expanded(p);
    return p;
}

Tensor logical(const Tensor& t, const Levels& levels) {
    if (levels.empty()) return t;
    if (is_batched(t)) {
        const BatchedValue& b = batched_value(t);
        const auto front = static_cast<int64_t>(levels.size());
        const Tensor value = b.dim == front ? b.value : ops::movedim(b.value, Dims{b.dim}, Dims{front});
        return make_batched(logical(value, levels), 0, b.level);
    }
    Tensor sample = t;
    for (BatchLevel* level : levels) sample = Batch(level).wrap(std::move(sample));
    return sample;
}

}  // namespace wengert::ops::batching
