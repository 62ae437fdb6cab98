#include "tensor/memory/block_cache.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/memory/failing_allocation.h"
#include "base/memory/immortal.h"
#include "base/memory/out_of_memory.h"
#include "base/system.h"
#include "base/threads/lock.h"

namespace wengert {
namespace {

struct KeptBlock;
using Kept = std::multimap<size_t, KeptBlock*>;  // by size

// Stands in the block itself.
struct KeptBlock {
    Kept::iterator place;
    KeptBlock *older, *newer;
    int64_t since;  // seconds
};

struct BlockCache {
    ForkSafeMutex mutex{LockRank::Memory};
    Kept blocks;
    KeptBlock *oldest = nullptr, *newest = nullptr;
    size_t bytes = 0;        // of the kept ones
    size_t held = 0;         // of these and of those in use
    size_t most_in_use = 0;  // at once
    size_t most_kept = kCacheBytes;

    size_t in_use() const { return held - bytes; }
    void note_use() { most_in_use = std::max(most_in_use, in_use()); }
    KeptBlock* remove(KeptBlock* b) {
        bytes -= b->place->first;
        blocks.erase(b->place);
        (b->older ? b->older->newer : oldest) = b->newer;
        (b->newer ? b->newer->older : newest) = b->older;
        return b;
    }
};

BlockCache& cache() {
    static BlockCache& c = []() -> BlockCache& {  // tensors may outlive static destruction
        static Immortal<BlockCache> made;
        const char* wanted = std::getenv("WENGERT_CACHE_BYTES");
        if (wanted) made->most_kept = parse_cache_bytes(wanted);
        return *made;
    }();
    return c;
}

int64_t seconds() noexcept {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// --- Blocks kept by a thread. A class holds sizes up to a quarter power of two; blocks have exactly the class's size.
constexpr size_t kClasses = 48, kSmallest = 512;

struct SizeClass {
    size_t index, size;
};

SizeClass class_of(size_t bytes) {
    size_t step = std::bit_width(bytes - 1);  // 2^(step - 1) < bytes <= 2^step, from 512 on
    size_t quarter = size_t{1} << (step - 3);
    size_t size = (bytes + quarter - 1) & ~(quarter - 1);
    return {(step - 8) * 4 + (size >> (step - 3)) - 5, size};
}

struct ThreadBlock {
    ThreadBlock* next;
};

// Behind a pointer: see slab_lists in base/memory/slab.h.
struct ThreadBlocks {
    ThreadBlock* lists[kClasses] = {};
    size_t bytes = 0;
};
constinit thread_local ThreadBlocks* thread_blocks = nullptr;
constinit thread_local bool thread_exiting = false;

struct ThreadExit {
    ~ThreadExit() {
        thread_exiting = true;
        release();
        delete thread_blocks;
        thread_blocks = nullptr;
    }
    static void release() noexcept;
};
thread_local ThreadExit on_thread_exit;

bool keep_on_thread(void* p, size_t size) noexcept {
    if (thread_exiting) return false;
    if (!thread_blocks) {
        (void)&on_thread_exit;  // the first use registers its destructor
        thread_blocks = new (std::nothrow) ThreadBlocks;
        if (!thread_blocks) return false;
    }
    if (thread_blocks->bytes + size > kThreadBytes) return false;
    auto* block = static_cast<ThreadBlock*>(p);
    ThreadBlock*& list = thread_blocks->lists[class_of(size).index];
    block->next = list;
    list = block;
    thread_blocks->bytes += size;
    return true;
}

void* take_from_thread(SizeClass c) noexcept {
    if (!thread_blocks) return nullptr;
    ThreadBlock*& list = thread_blocks->lists[c.index];
    if (!list) return nullptr;
    thread_blocks->bytes -= c.size;
    return std::exchange(list, list->next);
}

// --- Blocks from malloc
// Blocks that all began at the start of a huge page would meet in the same few sets of every cache, element by element.
size_t next_offset() noexcept {
    static std::atomic<size_t> count{0};
    constexpr size_t kOffsets = 16, kPage = 4096;
    return count++ % kOffsets * (kPage + 2 * kBlockAlignment);
}

void* make_block(size_t size) noexcept {
    if (size < kHugeBlock) return std::aligned_alloc(kBlockAlignment, size);
    const size_t offset = next_offset();
    void* p = nullptr;
    if (posix_memalign(&p, kHugePage, offset + size) != 0) return nullptr;
    auto* start = static_cast<std::byte*>(p);
    // Where a block ends in the middle of a huge page, the rest has small pages: no memory is taken that nobody asked for.
    ask_for_huge_pages(start, offset + size, kHugePage);
    return start + offset;
}

void free_block(void* p, size_t size) noexcept {
    const uintptr_t offset = size < kHugeBlock ? 0 : reinterpret_cast<uintptr_t>(p) % kHugePage;
    std::free(static_cast<std::byte*>(p) - offset);
}

size_t size_of_class(size_t index) noexcept {  // the inverse of class_of
    return (index % 4 + 5) << (index / 4 + 5);
}

size_t rounded(size_t bytes) { return (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment; }

void* take_cached(size_t size, size_t* actual) {
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    auto it = c.blocks.lower_bound(size);
    if (it == c.blocks.end() || it->first > 2 * size) return nullptr;
    *actual = it->first;
    KeptBlock* b = c.remove(it->second);
    c.note_use();
    return b;
}

// Blocks on their way out, which are freed when the lock is no longer held.
class Leaving {
public:
    ~Leaving() {
        while (first_) {
            KeptBlock* b = std::exchange(first_, first_->newer);
            free_block(b, static_cast<size_t>(b->since));
        }
    }
    void take_oldest(BlockCache& c) noexcept {
        const size_t size = c.oldest->place->first;
        KeptBlock* b = c.remove(c.oldest);
        c.held -= size;
        b->since = static_cast<int64_t>(size);
        b->newer = std::exchange(first_, b);
    }

private:
    KeptBlock* first_ = nullptr;
};

// A block is about to be made because none fits.
void make_room(size_t size) noexcept {
    Leaving leaving;
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    const size_t needed = std::max(c.most_in_use, c.in_use() + size), bound = needed + needed / 4 + kSpareBytes;
    while (c.oldest && c.held + size > bound) leaving.take_oldest(c);
}

void note_made(size_t size) noexcept {
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    c.held += size;
    c.note_use();
}

void note_freed(size_t size) noexcept {
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    c.held -= size;
}

void ThreadExit::release() noexcept {
    if (!thread_blocks) return;
    for (size_t i = 0; i < kClasses; ++i) {
        ThreadBlock*& list = thread_blocks->lists[i];
        const size_t size = size_of_class(i);
        while (list) {
            if (size >= kSharedBlock) note_freed(size);
            std::free(std::exchange(list, list->next));
        }
    }
    thread_blocks->bytes = 0;
}

bool keep_cached(void* p, size_t size) noexcept {
    constexpr int64_t kForgotten = 10;
    const int64_t now = seconds();
    Leaving leaving;
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    while (c.oldest && (c.bytes + size > c.most_kept || now - c.oldest->since > kForgotten)) leaving.take_oldest(c);
    if (size > c.most_kept) return false;
    try {
        auto* b = new (p) KeptBlock{{}, c.newest, nullptr, now};
        b->place = c.blocks.emplace_hint(c.blocks.lower_bound(size), size, b);  // before others of its size: it is warm
        (c.newest ? c.newest->newer : c.oldest) = b;
        c.newest = b;
    } catch (const std::bad_alloc&) {
        return false;
    }
    c.bytes += size;
    return true;
}

}  // namespace

#ifdef WENGERT_SANITIZE
constexpr bool kKeepBlocks = false;  // a block that is used again hides errors
#else
constexpr bool kKeepBlocks = true;
#endif

void* block_allocate(size_t bytes, size_t* actual) {
    if (failing::now()) [[unlikely]]
        throw OutOfMemory(bytes);
    size_t size = rounded(bytes);
    if (bytes <= kThreadBlock) {
        const SizeClass c = class_of(std::max(bytes, kSmallest));
        *actual = size = c.size;
        if (void* p = take_from_thread(c)) return p;
    }
    if (size >= kSharedBlock) {
        if (void* p = take_cached(size, actual)) return p;
        make_room(size);
    }
    void* p = make_block(size);
    if (!p) {
        empty_block_cache();
        p = make_block(size);
    }
    if (!p) throw OutOfMemory(bytes);
    if (size >= kSharedBlock) note_made(size);
    *actual = size;
    return p;
}

void block_free(void* p, size_t size) noexcept {
    if (kKeepBlocks && size <= kThreadBlock && keep_on_thread(p, size)) return;
    if (kKeepBlocks && size >= kSharedBlock && keep_cached(p, size)) return;
    if (size >= kSharedBlock) note_freed(size);
    free_block(p, size);
}

void empty_block_cache() noexcept {
    ThreadExit::release();
    Leaving leaving;
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    while (c.oldest) leaving.take_oldest(c);
    c.most_in_use = c.in_use();
}

BlockStatistics block_statistics() noexcept {
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    return {c.held, c.bytes};
}

size_t parse_cache_bytes(const char* text) {
    size_t bytes = 0;
    const char* end = text + std::strlen(text);
    auto [rest, error] = std::from_chars(text, end, bytes);
    int shift = 0;
    if (error == std::errc() && rest + 1 == end) {
        constexpr std::string_view units = "KMG";
        const size_t unit = units.find(*rest);
        shift = unit == std::string_view::npos ? 0 : 10 * static_cast<int>(unit + 1);
        rest += shift > 0;
    }
    check(error == std::errc() && rest == end && bytes <= (std::numeric_limits<size_t>::max() >> shift),
          ErrorKind::Value, "WENGERT_CACHE_BYTES=", text, " is no number of bytes; write 0, 500K, 64M or 2G");
    return bytes << shift;
}

}  // namespace wengert
