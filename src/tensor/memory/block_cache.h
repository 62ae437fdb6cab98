// Memory for tensor data too large for a slab.
//
// Up to 256 KiB each thread keeps a few freed blocks per size class and hands them out again: an operation on a small
// matrix would otherwise spend more time in malloc than on the elements. Larger blocks, and from 16 KiB on those that are
// too many for a thread, are kept in a cache that all threads share, and used again when the request is at least half of
// the block. malloc would give their pages back, where they are freed at its end or were mapped on their own, and map
// fresh ones: the page faults cost more than the arithmetic on them (twice the time of an expression of 4 M elements,
// more than that of a Cholesky factor of 200 x 200).
//
// What is kept is given back again. When a request finds nothing that fits it, and the program with all that is kept would
// hold a quarter more than it ever used at once, blocks that nobody wanted for the longest time are freed first: so no
// program's peak is that of its own blocks and of as many kept ones of another size (malloc joins what is freed, and gives
// it out in other sizes). Blocks that nobody wanted for ten seconds are freed when another one comes; all of them are by
// `empty_block_cache`. The environment variable WENGERT_CACHE_BYTES says how much may be kept.
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
inline constexpr size_t kCacheBytes = size_t{1} << 30;  // kept at most for all threads, if the environment says nothing
inline constexpr size_t kSpareBytes = size_t{64} << 20;  // kept beside what was used at once, however little that was

// A block of at least `bytes`; `*actual` becomes its size, which block_free needs.
void* block_allocate(size_t bytes, size_t* actual);
void block_free(void* p, size_t bytes) noexcept;
// Frees what all threads and the calling one keep.
void empty_block_cache() noexcept;

// Of blocks from kSharedBlock on: all that came from the system and did not go back, and what of it waits to be used again.
struct BlockStatistics {
    size_t held, kept;
};
BlockStatistics block_statistics() noexcept;

// "1234", "500K", "64M", "2G"; throws an Error that names the variable for anything else.
size_t parse_cache_bytes(const char* text);

}  // namespace wengert
