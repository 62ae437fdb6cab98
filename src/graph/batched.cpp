#include "graph/batched.h"

#include "tensor/wrappers.h"

namespace wengert {

constinit std::atomic<uint64_t> BatchLevel::last_number = 0;

namespace {

// The geometry and memory of the first sample.
void take_sample(TensorImpl& t, const Tensor& value, int64_t dim) {
    t.shallow_copy_from(*value.impl());
    t.sizes.erase(static_cast<size_t>(dim));
    t.strides.erase(static_cast<size_t>(dim));
    t.numel = numel_of(t.sizes);
    t.own_version = value.impl()->own_version;
}

void hold(TensorImpl& t, Tensor value, int64_t dim, Ref<BatchLevel> level) {
    auto meta = std::unique_ptr<AutogradMeta>(new AutogradMeta);
    std::unique_ptr<BatchedValue> held(new BatchedValue{{}, std::move(value), dim, std::move(level)});
    take_sample(t, held->value, dim);
    t.flags = (t.flags & kSubclass) | kBatched | (held->value.flags() & (kInference | kOffHost));
    meta->extras.make().batched = std::move(held);
    t.meta = meta.release();
}

}  // namespace

Tensor make_batched(Tensor value, int64_t dim, Ref<BatchLevel> level) {
    Tensor t(Ref<TensorImpl>::adopt(new TensorImpl(value.storage(), value.dtype())));
    hold(*t.impl(), std::move(value), dim, std::move(level));
    return t;
}

void become_batched(const Tensor& t, Tensor value, int64_t dim, Ref<BatchLevel> level) {
    TensorImpl& impl = *t.impl();
    std::unique_ptr<AutogradMeta> old(meta_of(t));  // its history is that of `value` now
    impl.meta = nullptr;
    const Ref<Storage> old_memory = impl.storage;
    const bool was_batched = impl.flags & kBatched;
    hold(impl, std::move(value), dim, std::move(level));
    note_swap(t);
    if (!was_batched && impl.pyobj) wrappers->tensor_becomes_batched(impl.pyobj);
}

Tensor unbatched(Tensor t) {
    while (is_batched(t)) t = Tensor(batched_value(t).value);
    return t;
}

}  // namespace wengert
