// Replaces src/base/memory/slab.h where a sanitizer is built in: every object comes from malloc, so that the sanitizer sees its
// bounds, its end, and which thread had it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/memory/failing_allocation.h"
#include "base/memory/out_of_memory.h"

namespace wengert {

inline constexpr size_t kSlabLimit = 1024;

inline void starve_slab_lists() {}
inline void restore_slab_lists() noexcept {}

inline void* slab_allocate(size_t bytes) {
    void* p = failing::now() ? nullptr : std::malloc(bytes);
    if (!p) throw OutOfMemory(bytes);
    return p;
}
inline void slab_free(void* p, size_t) noexcept { std::free(p); }
template <size_t bytes>
void* slab_take() noexcept {
    return std::malloc(bytes);
}
template <size_t bytes>
bool slab_give(void* p) noexcept {
    std::free(p);
    return true;
}

struct SlabAllocated {
    static void* operator new(size_t bytes) { return slab_allocate(bytes); }
    static void* operator new(size_t, void* where) noexcept { return where; }
    static void operator delete(void* p, size_t bytes) noexcept { slab_free(p, bytes); }
};

}  // namespace wengert
