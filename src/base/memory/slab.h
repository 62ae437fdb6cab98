// Memory for small objects: per-thread free lists over slabs.
//
// Sizes are rounded up to a multiple of 16; each size class up to 1 KiB has a list of free blocks per thread. An empty
// list is refilled from a 64 KiB slab; a list that grew beyond its bound (objects made on one thread and dropped on
// another) hands half of itself to a shared pool. Slabs go back to the system when asked only (slab_release.h): what was
// needed once is needed again, and warm memory is the point. Larger sizes go to malloc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wengert {

inline constexpr size_t kSlabUnit = 16;
inline constexpr size_t kSlabLimit = 1024;
inline constexpr size_t kSlabClasses = kSlabLimit / kSlabUnit + 1;

struct FreeBlock {
    FreeBlock* next;
};

struct FreeList {
    FreeBlock* head;
    uint32_t length;

    void* take() noexcept {  // null if it is empty
        FreeBlock* b = head;
        if (!b) [[unlikely]]
            return nullptr;
        head = b->next;
        --length;
        return b;
    }
    void give(void* p) noexcept {
        auto* b = static_cast<FreeBlock*>(p);
        b->next = head;
        head = b;
        ++length;
    }
};

extern constinit thread_local FreeList* slab_lists;  // one a size class
FreeList* make_slab_lists();
// While a test counts allocations (base/memory/failing_allocation.h), a thread's lists hold nothing and take nothing, so that
// every call goes to slab_refill; its own are set aside.
void starve_slab_lists();
void restore_slab_lists() noexcept;
[[gnu::cold]] void slab_free_without_lists(void* p, size_t size_class) noexcept;

inline FreeList& slab_list(size_t size_class) {
    FreeList* lists = slab_lists;
    if (!lists) [[unlikely]]
        lists = make_slab_lists();
    return lists[size_class];
}

[[gnu::cold]] void* slab_refill(size_t size_class);
[[gnu::cold]] void slab_overflow(size_t size_class) noexcept;
inline constexpr uint32_t kSlabBound = 1u << 16;

constexpr size_t slab_class(size_t bytes) { return (bytes + kSlabUnit - 1) / kSlabUnit; }

void* large_allocate(size_t bytes);
void large_free(void* p) noexcept;

inline void* slab_allocate(size_t bytes) {
    size_t c = slab_class(bytes);
    if (c >= kSlabClasses) [[unlikely]]
        return large_allocate(bytes);
    if (void* p = slab_list(c).take()) [[likely]]
        return p;
    return slab_refill(c);
}

// A block of the list, or null; and a block back, if the list takes it. For functions that leave everything unusual to
// another one by a jump, and so need no stack.
template <size_t bytes>
inline void* slab_take() noexcept {
    FreeList* lists = slab_lists;
    return lists ? lists[slab_class(bytes)].take() : nullptr;
}

inline void slab_free(void* p, size_t bytes) noexcept {
    size_t c = slab_class(bytes);
    if (c >= kSlabClasses) [[unlikely]]
        return large_free(p);
    FreeList* lists = slab_lists;
    if (!lists) [[unlikely]]
        return slab_free_without_lists(p, c);
    FreeList& list = lists[c];
    list.give(p);
    if (list.length > kSlabBound) [[unlikely]]
        slab_overflow(c);
}

template <size_t bytes>
inline bool slab_give(void* p) noexcept {
    FreeList* lists = slab_lists;
    if (!lists) [[unlikely]]
        return false;
    FreeList& list = lists[slab_class(bytes)];
    if (list.length >= kSlabBound) [[unlikely]]
        return false;
    list.give(p);
    return true;
}

// Gives a class `operator new/delete` from slabs; the deleting destructor passes the true size.
struct SlabAllocated {
    static void* operator new(size_t bytes) { return slab_allocate(bytes); }
    static void* operator new(size_t, void* where) noexcept { return where; }
    static void operator delete(void* p, size_t bytes) noexcept { slab_free(p, bytes); }
};

}  // namespace wengert
