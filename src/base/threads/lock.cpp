#include "base/threads/lock.h"

#include <pthread.h>

#include <vector>

#include "base/memory/immortal.h"

namespace wengert {

// All mutexes, in the order of their ranks.
struct ForkHandlers {
    std::mutex registration;
    ForkSafeMutex* first = nullptr;
    std::vector<void (*)() noexcept> in_child;

    ForkHandlers() {
        pthread_atfork([] { get().take_all(); }, [] { get().release_all(); },
                       [] {
                           get().release_all();
                           for (auto* f : get().in_child) f();
                       });
    }
    static ForkHandlers& get() noexcept {
        static Immortal<ForkHandlers> handlers;  // outlives static destruction
        return *handlers;
    }
    void add(ForkSafeMutex* m) {
        std::lock_guard lock(registration);
        ForkSafeMutex** at = &first;
        while (*at && (*at)->rank_ < m->rank_) at = &(*at)->next_;
        m->next_ = *at;
        *at = m;
    }
    void take_all() {
        registration.lock();
        for (ForkSafeMutex* m = first; m; m = m->next_) m->lock();
    }
    void release_all() {
        for (ForkSafeMutex* m = first; m; m = m->next_) m->unlock();
        registration.unlock();
    }
};

ForkSafeMutex::ForkSafeMutex(LockRank rank) noexcept : rank_(rank) { ForkHandlers::get().add(this); }

StripedMutex::StripedMutex(LockRank r) noexcept
    : stripes_{ForkSafeMutex(r), ForkSafeMutex(r), ForkSafeMutex(r), ForkSafeMutex(r),
               ForkSafeMutex(r), ForkSafeMutex(r), ForkSafeMutex(r), ForkSafeMutex(r)} {}

StripedMutex& shared_state_mutex() noexcept {
    static Immortal<StripedMutex> mutexes(LockRank::SharedState);
    return *mutexes;
}

void at_fork_in_child(void (*f)() noexcept) {
    ForkHandlers& handlers = ForkHandlers::get();
    std::lock_guard lock(handlers.registration);
    handlers.in_child.push_back(f);
}

}  // namespace wengert
