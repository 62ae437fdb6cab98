// Storage: a block of memory that tensors share, with the version counter of all who share it.
//
// Up to about 900 bytes the elements lie behind the Storage object in one slab block; larger blocks come from the block
// cache (tensor/memory/block_cache.h); foreign memory (NumPy, DLPack) carries a deleter. Memory may also be lent the other way;
// while it is, it can be written without our knowing, and may not move.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/api.h"
#include "base/memory/slab.h"
#include "base/refcount.h"
#include "base/state.h"
#include "tensor/device.h"

namespace wengert {

struct Region;
class TensorFreeLists;
class WriteLog;
struct FoundWrite;

// Counts in-place writes. Views and detached aliases share one, `.data` gets its own.
class VersionCounter final : public RefCounted, public SlabAllocated {
public:
    uint32_t value = 0;
    static void dispose(VersionCounter* v) noexcept { delete v; }
};

// Who counts memory is told of every block; `inline_limit` is 0 meanwhile, so that small ones are blocks too. Thus
// counting costs nothing while nobody counts.
WENGERT_API extern std::atomic<size_t> inline_limit;
WENGERT_API extern std::atomic<void (*)(int64_t change) noexcept> memory_watch;

class Storage final : public RefCounted {
public:
    // What to do with memory that another library owns; `context` is the owner.
    struct Foreign {
        void (*release)(void* context) noexcept;
        // Whether nothing but this storage can reach the memory; null: not known.
        bool (*is_private)(void* context) noexcept = nullptr;
    };

    static Ref<Storage> allocate(int64_t bytes) {
        size_t inline_size = sizeof(Storage) + static_cast<size_t>(bytes);
        if (inline_size > inline_limit.load(std::memory_order_relaxed)) [[unlikely]]
            return allocate_block(bytes);
        auto* s = new (slab_allocate(inline_size)) Storage;
        s->inline_bytes_ = static_cast<uint32_t>(inline_size);
        s->data_ = reinterpret_cast<std::byte*>(s + 1);
        s->bytes_ = bytes;
        s->batch_level_ = state.batch_level;
        return Ref<Storage>::adopt(s);
    }
    static Ref<Storage> allocate_on(Device device, int64_t bytes);  // other than the CPU (tensor/backend.h)
    // No memory at all, under the name of a device: of tensors whose elements a mode of their own keeps (ops/watch.h).
    static Ref<Storage> without_memory(Device device, int64_t bytes);
    static Ref<Storage> wrap(void* data, int64_t bytes, const Foreign& owner, void* context);  // keeps `&owner`
    static void dispose(Storage* s) noexcept {
        if (s->is_watched()) [[unlikely]]
            s->drop_log();
        if (s->kind_ != Kind::Inline) [[unlikely]]
            s->free_memory();
        slab_free(s, s->inline_bytes_);
    }

    std::byte* data() const noexcept { return data_; }
    int64_t bytes() const noexcept { return bytes_; }
    Device device() const noexcept { return device_; }
    bool has_memory() const noexcept { return kind_ != Kind::None; }
    // Whether the host reads it at `data()`.
    bool is_on_host() const noexcept { return kind_ != Kind::OnDevice && kind_ != Kind::None; }
    bool is_foreign() const noexcept { return kind_ == Kind::Foreign; }
    // Whether its elements lie behind it and it owns nothing else, least of all a log.
    bool is_plain() const noexcept {
        return kind_ == Kind::Inline && !is_lent() &&
               reinterpret_cast<uintptr_t>(log_.load(std::memory_order_relaxed)) <= kWatched;
    }

    // The innermost batch level that was open when this memory was made, 0 for none and for memory of others: so a
    // function under `vmap` knows its own memory from what it was given.
    uint64_t batch_level() const noexcept { return is_foreign() ? 0 : batch_level_; }

    // Replaces the memory by a larger block and keeps the contents; views keep their offsets (Tensor::resize_).
    void grow(int64_t bytes);

    // --- Writes (tensor/writes/write_log.h)
    uint32_t version = 0;  // of every tensor on it that has no counter of its own
    uint32_t writes = 0;   // every in-place write, also those through `.data`; what makes such writes detectable

    // From now on writes are logged with their regions.
    void watch() noexcept {
        if (is_watched()) return;
        WriteLog* none = nullptr;
        if (concurrent_counts)
            log_.compare_exchange_strong(none, watched());  // another thread may have been first, and a write followed
        else
            log_.store(watched(), std::memory_order_relaxed);
    }
    bool is_watched() const noexcept { return log_.load(std::memory_order_relaxed) != nullptr; }
    // The latest write to `region` of a watched storage since it counted `since` of them (tensor/writes/write_log.h).
    FoundWrite find_write(const Region& region, uint32_t since);
    // Counts a write. `operation` is its name, in static memory; null for one by code that we cannot see.
    void note_write(const Region& region, const char* operation);
    void forget_writes(uint32_t count) noexcept;  // the last ones did not happen

    // --- Memory that others can write
    void lend();
    void take_back();
    bool is_shared() const noexcept { return is_lent() || kind_ == Kind::Foreign; }
    // Of a watched, shared storage: enters writes from outside in the log. Call before a region is relied on.
    void check_outside_writes(const Region& region);

private:
    friend class TensorFreeLists;
    enum class Kind : uint8_t { Inline, Block, OnDevice, Foreign, None };
    Storage() = default;
    static Ref<Storage> allocate_block(int64_t bytes);
    void free_memory() noexcept;
    void grow_on_device(int64_t bytes);
    void drop_log() noexcept;
    WriteLog& log();
    static constexpr uintptr_t kWatched = 1;  // in place of a log, which is made when needed
    static WriteLog* watched() noexcept { return reinterpret_cast<WriteLog*>(kWatched); }
    void expect_memory();
    bool is_lent() const noexcept { return loans_.load(std::memory_order_relaxed) != 0; }

    Kind kind_ = Kind::Inline;
    Device device_;
    std::byte* data_ = nullptr;
    int64_t bytes_ = 0;
    uint32_t inline_bytes_ = 0;  // of the slab block behind this object
    std::atomic<uint32_t> loans_ = 0;
    std::atomic<WriteLog*> log_ = nullptr;
    const Foreign* foreign_ = nullptr;
    union {
        void* context_ = nullptr;  // of foreign memory
        uint64_t batch_level_;     // of ours
    };
};
static_assert(sizeof(Storage) % 16 == 0);  // inline elements are aligned

}  // namespace wengert
