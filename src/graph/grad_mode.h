// Grad modes: what this thread records.
#pragma once

#include "base/state.h"

namespace wengert {

struct GradMode {
    static bool is_enabled() noexcept { return state.grad_enabled; }
    static void set_enabled(bool enabled) noexcept {
        state.grad_enabled = enabled;
        refresh_mask();
    }
    static bool is_forward_enabled() noexcept { return state.forward_grad_enabled; }
    static void set_forward_enabled(bool enabled) noexcept {
        state.forward_grad_enabled = enabled;
        refresh_mask();
    }

private:
    // Views matter only to reverse mode: without it, their base's requires_grad is not asked.
    static void refresh_mask() noexcept {
        uint32_t mask = kInference;
        if (state.grad_enabled) mask |= kRequiresGrad | kIsView;
        if (state.forward_grad_enabled) mask |= kHasTangent;
        state.mask = mask;
    }
};

class AutoGradMode {
public:
    explicit AutoGradMode(bool enabled) noexcept : previous_(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
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

// Implies no_grad and no forward mode; new tensors are inference tensors.
class InferenceMode {
public:
    explicit InferenceMode(bool enabled = true) noexcept
        : grad_(enabled ? false : state.grad_enabled),
          forward_(enabled ? false : state.forward_grad_enabled),
          previous_(state.inference),
          previous_watch_(state.watch & kWatchInference) {
        set(enabled);
    }
    ~InferenceMode() {
        state.inference = previous_;
        state.watch = (state.watch & ~kWatchInference) | previous_watch_;
    }
    InferenceMode(const InferenceMode&) = delete;
    static bool is_enabled() noexcept { return state.inference; }
    static void set(bool enabled) noexcept {
        state.inference = enabled;
        state.watch = enabled ? state.watch | kWatchInference : state.watch & ~kWatchInference;
    }

private:
    AutoGradMode grad_;
    AutoForwardGradMode forward_;
    bool previous_;
    uint32_t previous_watch_;
};

}  // namespace wengert
