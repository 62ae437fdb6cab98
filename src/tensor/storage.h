// Storage: a block of memory that tensors share, with the version counter of all who share it.
//
// Up to about 900 bytes the elements lie behind the Storage object in one slab block; larger blocks come from the block
// cache (tensor/block_cache.h); foreign memory (NumPy, DLPack) carries a deleter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "base/refcount.h"
#include "base/slab.h"
#include "tensor/device.h"

namespace wengert {

// Counts in-place writes. Views and detached aliases share one, `.data` gets its own.
class VersionCounter final : public RefCounted, public SlabAllocated {
public:
    uint32_t value = 0;
    static void dispose(VersionCounter* v) noexcept { delete v; }
};

// Who counts memory is told of every block; `inline_limit` is 0 meanwhile, so that small ones are blocks too. Thus
// counting costs nothing while nobody counts.
inline size_t inline_limit = kSlabLimit;
inline void (*memory_watch)(int64_t change) noexcept = nullptr;

class Storage final : public RefCounted {
public:
    using Deleter = void (*)(void* context) noexcept;

    static Ref<Storage> allocate(int64_t bytes) {
        size_t inline_size = sizeof(Storage) + static_cast<size_t>(bytes);
        if (inline_size > inline_limit) [[unlikely]]
            return allocate_block(bytes);
        auto* s = new (slab_allocate(inline_size)) Storage;
        s->inline_bytes_ = static_cast<uint32_t>(inline_size);
        s->data_ = reinterpret_cast<std::byte*>(s + 1);
        s->bytes_ = bytes;
        return Ref<Storage>::adopt(s);
    }
    static Ref<Storage> wrap(void* data, int64_t bytes, Deleter deleter, void* context);
    static void dispose(Storage* s) noexcept {
        if (s->kind_ != Kind::Inline) [[unlikely]]
            s->free_memory();
        slab_free(s, s->inline_bytes_);
    }

    std::byte* data() const noexcept { return data_; }
    int64_t bytes() const noexcept { return bytes_; }
    Device device() const noexcept { return device_; }
    bool is_foreign() const noexcept { return kind_ == Kind::Foreign; }

    // Replaces the memory by a larger block and keeps the contents; views keep their offsets (Tensor::resize_).
    void grow(int64_t bytes);

    uint32_t version = 0;  // of every tensor on it that has no counter of its own
    uint32_t writes = 0;   // every in-place write, also those through `.data`; what makes such writes detectable

private:
    enum class Kind : uint8_t { Inline, Block, Foreign };
    Storage() = default;
    static Ref<Storage> allocate_block(int64_t bytes);
    void free_memory() noexcept;

    Kind kind_ = Kind::Inline;
    Device device_;
    std::byte* data_ = nullptr;
    int64_t bytes_ = 0;
    uint32_t inline_bytes_ = 0;  // of the slab block behind this object
    Deleter deleter_ = nullptr;
    void* context_ = nullptr;
};

}  // namespace wengert
