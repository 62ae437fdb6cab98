#include "base/slab.h"

#include <cstdlib>
#include <mutex>
#include <new>

#include "base/lock.h"
#include "base/thread_exit.h"

namespace wengert {
namespace {

constexpr size_t kSlabBytes = size_t{1} << 16;

// Chains of free blocks that threads handed back, per size class.
struct SharedPool {
    ForkSafeMutex mutex{LockRank::Memory};
    FreeList lists[kSlabClasses] = {};
};

SharedPool& shared_pool() {
    static SharedPool* pool = new SharedPool;  // outlives every thread
    return *pool;
}

// A dying thread's blocks go back to the shared pool.
void give_back(void* thread_lists) noexcept {
    auto* lists = static_cast<FreeList*>(thread_lists);
    slab_lists = nullptr;
    {
        SharedPool& pool = shared_pool();
        std::lock_guard lock(pool.mutex);
        for (size_t c = 1; c < kSlabClasses; ++c) {
            while (FreeBlock* b = lists[c].head) {
                lists[c].head = b->next;
                b->next = pool.lists[c].head;
                pool.lists[c].head = b;
                ++pool.lists[c].length;
            }
        }
    }
    delete[] lists;
}

}  // namespace

constinit thread_local FreeList* slab_lists = nullptr;

FreeList* make_slab_lists() {
    slab_lists = new FreeList[kSlabClasses]();
    pthread_setspecific(thread_exit_key<give_back>(), slab_lists);
    return slab_lists;
}

void* slab_refill(size_t c) {
    FreeList& list = slab_lists[c];
    {
        SharedPool& pool = shared_pool();
        std::lock_guard lock(pool.mutex);
        std::swap(list, pool.lists[c]);
    }
    if (!list.head) {
        size_t size = c == 0 ? kSlabUnit : c * kSlabUnit;
        auto* slab = static_cast<char*>(std::aligned_alloc(64, kSlabBytes));
        if (!slab) throw std::bad_alloc();
        for (size_t i = kSlabBytes / size; i-- > 0;) list.give(slab + i * size);
    }
    return list.take();
}

void slab_overflow(size_t c) noexcept {
    FreeList& list = slab_lists[c];
    uint32_t keep = list.length / 2;
    FreeBlock* last = list.head;
    for (uint32_t i = 1; i < keep; ++i) last = last->next;
    FreeBlock* given = last->next;
    last->next = nullptr;
    SharedPool& pool = shared_pool();
    std::lock_guard lock(pool.mutex);
    while (given) {
        FreeBlock* next = given->next;
        given->next = pool.lists[c].head;
        pool.lists[c].head = given;
        ++pool.lists[c].length;
        given = next;
    }
    list.length = keep;
}

void* large_allocate(size_t bytes) {
    void* p = std::malloc(bytes);
    if (!p) throw std::bad_alloc();
    return p;
}

void large_free(void* p) noexcept { std::free(p); }

}  // namespace wengert
