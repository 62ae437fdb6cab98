// Free lists of tensors.
//
// Most results on small tensors die soon and with nothing special about them. Such a tensor is not taken apart: impl and
// storage stay constructed and together, on a free list of their thread, one for each size class of the storage. The
// next small result takes a pair from it and writes its dtype and geometry over the old ones: that takes less than half of
// the instructions of two constructions and two destructions.
//
// A list takes a tensor when nothing else refers to its storage, which is a small one without a log and on loan to nobody,
// and when its impl owns nothing but that. What a free tensor looks like is settled when it is given back: no flags, no
// version, offset 0, not watched. `take` adds what a new one differs in: a reference, and no wrapper (through that field
// the list is linked).
#pragma once

#include "tensor/tensor.h"

namespace wengert {

struct TensorFreeList {
    TensorImpl* head;
    uint32_t length;
};

inline constexpr uint32_t kTensorFreeListBound = 1u << 12;  // of one size

extern constinit thread_local TensorFreeList* tensor_free_lists;  // by slab_class; base/threads/thread_exit.h

class TensorFreeLists {
public:
    static constexpr bool possible = true;  // not so where a sanitizer is built in
    // A tensor of that many bytes, whose dtype, numel, sizes and strides are anything; null where none is free.
    [[gnu::always_inline]] static TensorImpl* take(int64_t bytes) noexcept {
        const size_t inline_size = sizeof(Storage) + static_cast<size_t>(bytes);
        TensorFreeList* lists = tensor_free_lists;
        if (!lists || inline_size > inline_limit.load(std::memory_order_relaxed)) [[unlikely]]
            return nullptr;
        TensorFreeList& list = lists[slab_class(inline_size)];
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

    // One with the sizes and strides of another, whose flags are left to the caller.
    [[gnu::always_inline]] static TensorImpl* take_like(const TensorImpl& dense, DType dtype) noexcept {
        if (!dense.sizes.is_short()) [[unlikely]]  // and so are its strides, which are as many
            return nullptr;
        TensorImpl* t = take(dense.numel * item_size(dtype));
        if (!t) [[unlikely]]
            return nullptr;
        t->dtype = dtype;
        t->numel = dense.numel;
        t->sizes.copy_short(dense.sizes);
        t->strides.copy_short(dense.strides);
        return t;
    }

    // Frees an impl without references, meta and wrapper; false if it must be taken apart.
    [[gnu::always_inline]] static bool give_back(TensorImpl* t) noexcept {
        Storage& storage = *t->storage;
        if (t->own_version || !t->sizes.is_inline() || !t->strides.is_inline() || storage.use_count() != 1 ||
            !storage.is_plain())
            return false;
        TensorFreeList* lists = tensor_free_lists;
        if (!lists) [[unlikely]]
            return false;
        TensorFreeList& list = lists[slab_class(storage.inline_bytes_)];
        if (list.length >= kTensorFreeListBound) [[unlikely]]
            return false;
        t->flags = 0;
        t->swaps = 0;
        t->gc_visible = false;
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
