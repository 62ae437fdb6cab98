// Tensors at rest.
//
// Most results on small tensors die soon and with nothing special about them. Such a tensor is not taken apart: impl and
// storage stay constructed and together, and wait on a list of their thread, one for each size class of the storage. The
// next small result takes a pair from it and writes its dtype and geometry over the old ones: that takes less than half of
// the instructions of two constructions and two destructions.
//
// A tensor may rest when nothing else refers to its storage, which is a small one without a log and on loan to nobody, and
// when its impl owns nothing but that. What a resting tensor looks like is settled when it goes to rest: no flags, no
// version, offset 0, not watched. `wake` adds what a new one differs in: a reference, and no wrapper (through that field
// the list is linked).
#pragma once

#include "tensor/tensor.h"

namespace wengert {

struct RestingList {
    TensorImpl* head;
    uint32_t length;
};

inline constexpr uint32_t kRestingBound = 1u << 12;  // of one size

extern constinit thread_local RestingList* resting_lists;  // by slab_class; base/thread_exit.h

class Resting {
public:
    static constexpr bool possible = true;  // not so where a sanitizer is built in
    // A tensor of that many bytes, whose dtype, numel, sizes and strides are anything; null where none rests.
    [[gnu::always_inline]] static TensorImpl* wake(int64_t bytes) noexcept {
        const size_t inline_size = sizeof(Storage) + static_cast<size_t>(bytes);
        RestingList* lists = resting_lists;
        if (!lists || inline_size > inline_limit.load(std::memory_order_relaxed)) [[unlikely]]
            return nullptr;
        RestingList& list = lists[slab_class(inline_size)];
        TensorImpl* t = list.head;
        if (!t) return nullptr;
        list.head = static_cast<TensorImpl*>(t->pyobj);
        --list.length;
        t->pyobj = nullptr;
        t->revive();
        t->storage->bytes_ = bytes;
        t->storage->batch_level_ = state.batch_level;
        return t;
    }

    // One with the sizes and strides of another.
    [[gnu::always_inline]] static TensorImpl* wake_as(const TensorImpl& dense, DType dtype) noexcept {
        if (!dense.sizes.is_short()) [[unlikely]]  // and so are its strides, which are as many
            return nullptr;
        TensorImpl* t = wake(dense.numel * item_size(dtype));
        if (!t) [[unlikely]]
            return nullptr;
        t->dtype = dtype;
        t->numel = dense.numel;
        t->sizes.copy_short(dense.sizes);
        t->strides.copy_short(dense.strides);
        return t;
    }

    // Puts an impl without references, meta and wrapper to rest; false if it may not.
    [[gnu::always_inline]] static bool lay_down(TensorImpl* t) noexcept {
        Storage& storage = *t->storage;
        if (t->own_version || !t->sizes.is_inline() || !t->strides.is_inline() || storage.use_count() != 1 ||
            !storage.is_plain())
            return false;
        RestingList* lists = resting_lists;
        if (!lists) [[unlikely]]
            return false;
        RestingList& list = lists[slab_class(storage.inline_bytes_)];
        if (list.length >= kRestingBound) [[unlikely]]
            return false;
        t->flags = 0;
        t->swaps = 0;
        t->shown = false;
        t->offset = 0;
        storage.version = 0;
        storage.writes = 0;
        storage.log_.store(nullptr, std::memory_order_relaxed);
        t->pyobj = list.head;
        list.head = t;
        ++list.length;
        return true;
    }
    // Makes this thread's lists if it has none; true if it did.
    static bool begin() noexcept;
};

}  // namespace wengert
