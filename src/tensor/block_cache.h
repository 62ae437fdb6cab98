// Memory for tensor data too large for a slab.
//
// Up to 256 KiB each thread keeps a few freed blocks per size class and hands them out again: an operation on a small
// matrix would otherwise spend more time in malloc than on the elements. Larger blocks, and from 16 KiB on those that are
// too many for a thread, are kept in a cache that all threads share, and used again when the request is at least half of
// the block. malloc would give their pages back, where they are freed at its end or were mapped on their own, and map
// fresh ones: the page faults cost more than the arithmetic on them (twice the time of an expression of 4 M elements,
// more than that of a Cholesky factor of 200 x 200).
//
// From 4 MiB on blocks consist of huge pages where the system has them: a loop over several arrays otherwise waits for
// page tables a quarter of its time.
#pragma once

#include <cstddef>

namespace wengert {

inline constexpr size_t kBlockAlignment = 64;
inline constexpr size_t kThreadBlock = size_t{256} << 10;  // at most, to be kept by a thread
inline constexpr size_t kThreadBytes = size_t{8} << 20;    // kept at most by a thread
inline constexpr size_t kSharedBlock = size_t{16} << 10;   // at least, to be kept for all threads
inline constexpr size_t kHugeBlock = size_t{4} << 20;
inline constexpr size_t kHugePage = size_t{2} << 20;
inline constexpr size_t kCacheBytes = size_t{1} << 30;  // kept at most for all threads

// A block of at least `bytes`; `*actual` becomes its size, which block_free needs.
void* block_allocate(size_t bytes, size_t* actual);
void block_free(void* p, size_t bytes) noexcept;
void empty_block_cache() noexcept;

}  // namespace wengert
