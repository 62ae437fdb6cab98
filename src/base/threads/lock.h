// Locks, and what becomes of them in a forked child.
//
// fork() copies a lock that another thread holds, and in the child nobody will ever release it. So every lock of the core
// that is not part of a running pass is a `ForkSafeMutex`: they are all taken before the process forks, in the order of
// their ranks, and released on both sides.
//
// Two rules keep them from waiting for each other. While one is held, no user code runs, no Python lock is taken and
// nothing is destroyed that might own a Python object. And a lock may be taken under another only if its rank is higher.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/refcount.h"

namespace wengert {

enum class LockRank { Accumulate, Noted, Graph, SharedState, Tangents, Log, Memory };

class ForkSafeMutex {
public:
    explicit ForkSafeMutex(LockRank rank) noexcept;
    ForkSafeMutex(const ForkSafeMutex&) = delete;
    ~ForkSafeMutex() = default;  // they live as long as the process
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }
    bool try_lock() { return mutex_.try_lock(); }

private:
    friend struct ForkHandlers;
    std::mutex mutex_;
    LockRank rank_;
    ForkSafeMutex* next_ = nullptr;  // of equal or higher rank
};

// A few locks for many objects.
class StripedMutex {
public:
    explicit StripedMutex(LockRank rank) noexcept;
    ForkSafeMutex& of(const void* object) noexcept {
        return stripes_[(reinterpret_cast<uintptr_t>(object) >> 6) % kStripes];
    }

private:
    static constexpr size_t kStripes = 8;
    ForkSafeMutex stripes_[kStripes];
};

StripedMutex& shared_state_mutex() noexcept;

// Guards a field of an object that several threads may know, while it is read or replaced: no longer than it takes to
// copy a pointer. Free while one thread at a time runs core code (see refcount.h).
class SharedStateLock {
public:
    explicit SharedStateLock(const void* object) noexcept
        : mutex_(concurrent_counts ? &shared_state_mutex().of(object) : nullptr) {
        if (mutex_) mutex_->lock();
    }
    ~SharedStateLock() {
        if (mutex_) mutex_->unlock();
    }
    SharedStateLock(const SharedStateLock&) = delete;

private:
    ForkSafeMutex* mutex_;
};

// Called in the child of a fork, before anything else of the core runs there.
void at_fork_in_child(void (*f)() noexcept);

}  // namespace wengert
