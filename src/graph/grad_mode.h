// Grad modes: what this thread records.
#pragma once

#include <atomic>

#include "base/api.h"
#include "base/state.h"

namespace wengert {

// How many dual levels are open, on all threads together (graph/forward_grad.h).
WENGERT_API extern std::atomic<int32_t> open_dual_levels;

struct GradMode {
    // Whether operations are recorded. Inference mode records nothing, whatever the flag says.
    static bool is_enabled() noexcept { return state.grad_enabled && !state.inference; }
    static bool flag() noexcept { return state.grad_enabled; }
    static void set_enabled(bool enabled) noexcept {
        state.grad_enabled = enabled;
        refresh_mask();
    }
    static bool is_forward_enabled() noexcept { return state.forward_grad_enabled; }
    static void set_forward_enabled(bool enabled) noexcept {
        state.forward_grad_enabled = enabled;
        refresh_mask();
    }

    // A view must ask its base where that may have been written: for requires_grad, and while a level is open for a
    // tangent. A thread that had left grad mode before another one opened the first level sees it when it next changes mode.
    static void refresh_mask() noexcept {
        uint32_t mask = state.dispatching ? kAlwaysAsked : kAlwaysAsked & ~uint32_t{kDispatched};
        if (is_enabled()) mask |= kRequiresGrad | kIsView;
        if (state.forward_grad_enabled) {
            mask |= kHasTangent;
            if (open_dual_levels.load(std::memory_order_relaxed) > 0) mask |= kIsView;
        }
        state.mask = mask;
    }
};

class AutoGradMode {
public:
    explicit AutoGradMode(bool enabled) noexcept : previous_(GradMode::flag()) { GradMode::set_enabled(enabled); }
    ~AutoGradMode() { GradMode::set_enabled(previous_); }
    AutoGradMode(const AutoGradMode&) = delete;

private:
    bool previous_;
};

struct NoGradGuard : AutoGradMode {
    NoGradGuard() noexcept : AutoGradMode(false) {}
};

class AutoForwardGradMode {
public:
    explicit AutoForwardGradMode(bool enabled) noexcept : previous_(GradMode::is_forward_enabled()) {
        GradMode::set_forward_enabled(enabled);
    }
    ~AutoForwardGradMode() { GradMode::set_forward_enabled(previous_); }
    AutoForwardGradMode(const AutoForwardGradMode&) = delete;

private:
    bool previous_;
};

// On: nothing is recorded, forward mode and engine threads are off, new tensors are inference tensors. Off: the
// opposite of all of it, also inside another mode, so that a block of ordinary code may stand anywhere.
class InferenceMode {
public:
    explicit InferenceMode(bool enabled = true) noexcept
        : grad_(!enabled), forward_(!enabled), multithreading_(state.multithreading), previous_(state.inference) {
        state.multithreading = !enabled;
        set(enabled);
    }
    ~InferenceMode() {
        state.multithreading = multithreading_;
        set(previous_);
    }
    InferenceMode(const InferenceMode&) = delete;
    static bool is_enabled() noexcept { return state.inference; }

private:
    static void set(bool enabled) noexcept {
        state.inference = enabled;
        state.watch = enabled ? state.watch | kWatchInference : state.watch & ~kWatchInference;
        GradMode::refresh_mask();
    }

    AutoGradMode grad_;
    AutoForwardGradMode forward_;
    bool multithreading_;
    bool previous_;
};

}  // namespace wengert
