// What some systems and processors have and others do without: hints, so that a system where they come to nothing gets the
// same results. Each has its portable twin beside it; a build with WENGERT_PORTABLE takes the twins everywhere, and runs
// the tests with them. What is left to the systems is POSIX: threads, their keys and fork handlers (base/threads).
// Vector mathematics and instruction sets are chosen likewise, by cmake/isa.cmake.
#pragma once

#include <cstddef>

#if defined(__SSE2__) && !defined(WENGERT_PORTABLE)
#define WENGERT_USES_SSE2 1
#include <emmintrin.h>
#endif

namespace wengert {

// To the other thread of the core, while this one waits.
inline void yield_core() noexcept {
#if defined(WENGERT_USES_SSE2)
    _mm_pause();
#elif defined(__aarch64__) && !defined(WENGERT_PORTABLE)
    __asm__ __volatile__("yield");
#endif
}

// Backs this memory with pages of that size, as far as it covers them.
void ask_for_huge_pages(void* start, size_t bytes, size_t page) noexcept;

// What was freed between blocks in use goes back to the system.
void return_freed_memory() noexcept;

}  // namespace wengert
