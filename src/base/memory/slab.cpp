#include "base/memory/slab.h"
#include "base/memory/immortal.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/memory/failing_allocation.h"
#include "base/memory/out_of_memory.h"
#include "base/memory/slab_release.h"
#include "base/threads/lock.h"
#include "base/threads/thread_exit.h"

namespace wengert {
namespace {

constexpr size_t kSlabBytes = size_t{1} << 16;

// Chains of free blocks that threads handed back, and all slabs there are, per size class.
struct SharedPool {
    ForkSafeMutex mutex{LockRank::Memory};
    FreeList lists[kSlabClasses] = {};
    std::vector<char*> slabs[kSlabClasses];
};

SharedPool& shared_pool() {
    static Immortal<SharedPool> pool;  // outlives every thread
    return *pool;
}

size_t block_size(size_t c) { return c == 0 ? kSlabUnit : c * kSlabUnit; }
size_t blocks_in_slab(size_t c) { return kSlabBytes / block_size(c); }

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

// What a thread does that has only dropped objects so far. Where memory has come to its end, the pool takes the block.
void slab_free_without_lists(void* p, size_t c) noexcept {
    try {
        make_slab_lists()[c].give(p);
    } catch (const std::bad_alloc&) {
        SharedPool& pool = shared_pool();
        std::lock_guard lock(pool.mutex);
        pool.lists[c].give(p);
    }
}

namespace {

constinit thread_local FreeList* lists_set_aside = nullptr;

FreeList& own_list(size_t c) noexcept { return (lists_set_aside ? lists_set_aside : slab_lists)[c]; }

void starve(FreeList& list) noexcept {
    list.head = nullptr;
    list.length = kSlabBound;
}

}  // namespace

void starve_slab_lists() {
    if (lists_set_aside) return;
    auto* starved = new FreeList[kSlabClasses]();
    for (size_t c = 0; c < kSlabClasses; ++c) starve(starved[c]);
    (void)slab_list(0);
    lists_set_aside = std::exchange(slab_lists, starved);
}

void restore_slab_lists() noexcept {
    if (lists_set_aside) delete[] std::exchange(slab_lists, std::exchange(lists_set_aside, nullptr));
}

void* slab_refill(size_t c) {
    if (failing::now()) throw OutOfMemory(c * kSlabUnit);
    FreeList& list = own_list(c);
    if (list.head) return list.take();  // of lists that are set aside
    SharedPool& pool = shared_pool();
    std::lock_guard lock(pool.mutex);
    std::swap(list, pool.lists[c]);
    if (!list.head) {
        try {
            pool.slabs[c].reserve(pool.slabs[c].size() + 1);
        } catch (const std::bad_alloc&) {
            throw OutOfMemory(kSlabBytes);
        }
        auto* slab = static_cast<char*>(std::aligned_alloc(64, kSlabBytes));
        if (!slab) throw OutOfMemory(kSlabBytes);
        pool.slabs[c].push_back(slab);
        for (size_t i = blocks_in_slab(c); i-- > 0;) list.give(slab + i * block_size(c));
    }
    return list.take();
}

void slab_overflow(size_t c) noexcept {
    FreeList& list = slab_lists[c];
    if (lists_set_aside) [[unlikely]] {
        lists_set_aside[c].give(list.head);
        return starve(list);
    }
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

namespace {

// Frees the slabs whose blocks all are in one of two lists, and takes these blocks out of them.
void release_whole_slabs(SharedPool& pool, size_t c, FreeList& mine) {
    std::vector<char*>& slabs = pool.slabs[c];
    FreeList* const lists[] = {&mine, &pool.lists[c]};
    std::sort(slabs.begin(), slabs.end());
    std::vector<uint32_t> free(slabs.size());
    auto slab_of = [&](const void* block) {
        return static_cast<size_t>(std::upper_bound(slabs.begin(), slabs.end(), block) - slabs.begin() - 1);
    };
    for (const FreeList* list : lists)
        for (const FreeBlock* b = list->head; b; b = b->next) ++free[slab_of(b)];
    const auto whole = static_cast<uint32_t>(blocks_in_slab(c));
    for (FreeList* list : lists) {
        FreeBlock* b = std::exchange(list->head, nullptr);
        list->length = 0;
        while (b) {
            FreeBlock* next = b->next;
            if (free[slab_of(b)] != whole) list->give(b);
            b = next;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < slabs.size(); ++i)
        if (free[i] == whole)
            std::free(slabs[i]);
        else
            slabs[kept++] = slabs[i];
    slabs.resize(kept);
}

}  // namespace

void slab_release() noexcept {
    SharedPool& pool = shared_pool();
    std::lock_guard lock(pool.mutex);
    for (size_t c = 1; c < kSlabClasses; ++c) {
        FreeList none{};
        try {
            release_whole_slabs(pool, c, slab_lists ? own_list(c) : none);
        } catch (const std::bad_alloc&) {  // before anything was changed: this class keeps what it has
        }
    }
}

size_t slab_bytes() noexcept {
    SharedPool& pool = shared_pool();
    std::lock_guard lock(pool.mutex);
    size_t bytes = 0;
    for (const std::vector<char*>& slabs : pool.slabs) bytes += slabs.size() * kSlabBytes;
    return bytes;
}

void* large_allocate(size_t bytes) {
    void* p = failing::now() ? nullptr : std::malloc(bytes);
    if (!p) throw OutOfMemory(bytes);
    return p;
}

void large_free(void* p) noexcept { std::free(p); }

}  // namespace wengert
