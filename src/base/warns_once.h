// Warnings that are given once in a process.
#pragma once

#include <atomic>

#include "base/api.h"

namespace wengert {

// One such warning: `now` is true the first time, and always if that is wanted.
class WarnsOnce {
public:
    bool now() noexcept { return !given_.exchange(true, std::memory_order_relaxed) || always.load(); }
    WENGERT_API static std::atomic<bool> always;

private:
    std::atomic<bool> given_{false};
};

}  // namespace wengert
