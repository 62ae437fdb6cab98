#include "tensor/block_cache.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/failing_allocation.h"
#include "base/lock.h"
#include "base/out_of_memory.h"

namespace wengert {
namespace {

struct BlockCache {
    ForkSafeMutex mutex{LockRank::Memory};
    std::multimap<size_t, void*> blocks;
    size_t bytes = 0;
};

BlockCache& cache() {
    static BlockCache* c = new BlockCache;  // tensors may outlive static destruction
    return *c;
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

// Behind a pointer: see slab_lists in base/slab.h.
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
    static void release() noexcept {
        if (!thread_blocks) return;
        for (ThreadBlock*& list : thread_blocks->lists)
            while (list) std::free(std::exchange(list, list->next));
        thread_blocks->bytes = 0;
    }
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
// Where a block ends in the middle of a huge page, the rest has small pages: no memory is taken that nobody asked for.
void ask_for_huge_pages([[maybe_unused]] std::byte* p, [[maybe_unused]] size_t size) noexcept {
#ifdef MADV_HUGEPAGE
    madvise(p, size / kHugePage * kHugePage, MADV_HUGEPAGE);  // a wish: what comes of it does not matter
#endif
}

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
    ask_for_huge_pages(start, offset + size);
    return start + offset;
}

void free_block(void* p, size_t size) noexcept {
    const uintptr_t offset = size < kHugeBlock ? 0 : reinterpret_cast<uintptr_t>(p) % kHugePage;
    std::free(static_cast<std::byte*>(p) - offset);
}

size_t rounded(size_t bytes) { return (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment; }

void* take_cached(size_t size, size_t* actual) {
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    auto it = c.blocks.lower_bound(size);
    if (it == c.blocks.end() || it->first > 2 * size) return nullptr;
    void* p = it->second;
    *actual = it->first;
    c.bytes -= it->first;
    c.blocks.erase(it);
    return p;
}

bool keep_cached(void* p, size_t size) noexcept {
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    if (c.bytes + size > kCacheBytes) return false;
    try {
        c.blocks.emplace_hint(c.blocks.lower_bound(size), size, p);  // before others of its size: it is warm
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
    if (size >= kSharedBlock)
        if (void* p = take_cached(size, actual)) return p;
    void* p = make_block(size);
    if (!p) {
        empty_block_cache();
        p = make_block(size);
    }
    if (!p) throw OutOfMemory(bytes);
    *actual = size;
    return p;
}

void block_free(void* p, size_t size) noexcept {
    if (kKeepBlocks && size <= kThreadBlock && keep_on_thread(p, size)) return;
    if (kKeepBlocks && size >= kSharedBlock && keep_cached(p, size)) return;
    free_block(p, size);
}

void empty_block_cache() noexcept {
    ThreadExit::release();
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    for (auto& [size, p] : c.blocks) free_block(p, size);
    c.blocks.clear();
    c.bytes = 0;
}

}  // namespace wengert
