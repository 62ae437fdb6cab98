#include "backends/sim/reach.h"

#include <algorithm>

namespace wengert::sim {
namespace {

// The device's blocks are given back by its own storages.
constexpr Storage::Foreign kNobody{.release = [](void*) noexcept {}};

}  // namespace

Reached::Reached(const Call& call) {
    for (const Tensor& t : call.operands) add(t);
    for (const Tensor& t : call.results) add(t);
}

void Reached::add(const Tensor& t) {
    const Storage* there = t.storage().get();
    Ref<Storage> here;
    for (const auto& [storage, known] : storages_)
        if (storage == there) here = known;
    if (!here) {
        std::byte* data = there->data() ? DeviceMemory::in_reach(there->data()) : nullptr;
        here = Storage::wrap(data, there->bytes(), kNobody, nullptr);
        storages_.push_back({there, here});
    }
    Tensor out(Ref<TensorImpl>::adopt(new TensorImpl(here, t.dtype())));
    TensorImpl& impl = *out.impl();
    impl.shallow_copy_from(*t.impl());
    impl.set_storage(std::move(here));
    tensors_.push_back({t.impl(), std::move(out)});
}

Tensor Reached::operator()(const Tensor& t) const {
    for (const auto& [impl, reached] : tensors_)
        if (impl == t.impl()) return reached;
    fail(ErrorKind::Runtime, "[sim] a call uses a tensor that it does not name");
}

MemoryUse use_of(const Tensor& t, bool is_write) {
    return {t.device(), t.storage()->data(), region_of(*t.impl()), is_write};
}

std::vector<MemoryUse> uses_of(const Call& call) {
    std::vector<MemoryUse> uses;
    for (const Tensor& t : call.results) uses.push_back(use_of(t, true));
    for (const Tensor& t : call.operands)  // what is changed in place is one use
        if (std::ranges::none_of(call.results, [&](const Tensor& result) { return result.is_same(t); }))
            uses.push_back(use_of(t, false));
    return uses;
}

}  // namespace wengert::sim
