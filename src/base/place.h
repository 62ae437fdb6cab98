// Place: where in the user's program something happened, for messages that name the culprit.
//
// In debug mode (`set_debug_mode`) every recorded operation and every in-place write keeps its place: cheap to take (the
// Python layer stores a code object and an offset), turned into file and line only when a message needs it. Without
// debug mode nothing is taken, and a message names the operation alone.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/api.h"

namespace wengert {

struct Place {
    virtual ~Place() = default;
    virtual std::string describe() const = 0;  // "model.py:12 in forward"
};

// The line of the user's program that runs on this thread; set by the Python layer.
WENGERT_API extern std::shared_ptr<const Place> (*current_place)();

// Belongs to the process, as anomaly mode does: a backward pass on any thread obeys it.
struct DebugMode {
    static bool is_enabled() noexcept { return enabled_.load(std::memory_order_relaxed); }
    static void set_enabled(bool enabled) noexcept { enabled_ = enabled; }

private:
    WENGERT_API static std::atomic<bool> enabled_;
};

}  // namespace wengert
