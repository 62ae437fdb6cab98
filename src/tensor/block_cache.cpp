#include "tensor/block_cache.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

namespace wengert {
namespace {

struct BlockCache {
    std::mutex mutex;
    std::multimap<size_t, void*> blocks;
    size_t bytes = 0;
};

BlockCache& cache() {
    static BlockCache* c = new BlockCache;  // tensors may outlive static destruction
    return *c;
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

}  // namespace

void* block_allocate(size_t bytes, size_t* actual) {
    size_t size = rounded(bytes);
    if (size >= kCachedBlock)
        if (void* p = take_cached(size, actual)) return p;
    void* p = std::aligned_alloc(kBlockAlignment, size);
    if (!p) {
        empty_block_cache();
        p = std::aligned_alloc(kBlockAlignment, size);
    }
    if (!p) throw std::bad_alloc();
    *actual = size;
    return p;
}

void block_free(void* p, size_t size) noexcept {
    if (size >= kCachedBlock) {
        BlockCache& c = cache();
        std::lock_guard lock(c.mutex);
        if (c.bytes + size <= kCacheBytes) {
            try {
                c.blocks.emplace(size, p);
                c.bytes += size;
                return;
            } catch (const std::bad_alloc&) {
            }
        }
    }
    std::free(p);
}

void empty_block_cache() noexcept {
    BlockCache& c = cache();
    std::lock_guard lock(c.mutex);
    for (auto& [size, p] : c.blocks) std::free(p);
    c.blocks.clear();
    c.bytes = 0;
}

}  // namespace wengert
