// Memory for tensor data too large for a slab.
//
// malloc serves blocks up to 32 MiB well: freed memory stays mapped and warm. Above that it maps fresh pages every time,
// and the page faults cost more than the arithmetic on them; so those blocks are kept in a small cache and reused when
// the request is at least half of the block.
#pragma once

#include <cstddef>

namespace wengert {

inline constexpr size_t kBlockAlignment = 64;
inline constexpr size_t kCachedBlock = size_t{32} << 20;
inline constexpr size_t kCacheBytes = size_t{1} << 30;  // kept at most

// A block of at least `bytes`; `*actual` becomes its size, which block_free needs.
void* block_allocate(size_t bytes, size_t* actual);
void block_free(void* p, size_t bytes) noexcept;
void empty_block_cache() noexcept;

}  // namespace wengert
