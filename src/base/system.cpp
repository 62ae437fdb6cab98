#include "base/system.h"

#if defined(__linux__) && !defined(WENGERT_PORTABLE)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__) && !defined(WENGERT_PORTABLE)
#define WENGERT_TRIMS 1
#include <malloc.h>
#endif

namespace wengert {

void ask_for_huge_pages([[maybe_unused]] void* start, [[maybe_unused]] size_t bytes,
                        [[maybe_unused]] size_t page) noexcept {
#ifdef MADV_HUGEPAGE
    madvise(start, bytes / page * page, MADV_HUGEPAGE);
#endif
}

void return_freed_memory() noexcept {
#ifdef WENGERT_TRIMS
    malloc_trim(0);
#endif
}

}  // namespace wengert
