// Derivatives inside derivatives, for formulas that must know how the gradient that reaches them was computed, and not
// only its value: the gradient of a removable singularity is a limit 0 / 0, which a derivative of the numerator resolves.
//
// Such formulas need a recorded pass (create_graph). Where already a first derivative has a singularity, the node says so
// when it is made, and the engine records the pass for its own use: what it hands out is detached.
#pragma once

#include <atomic>
#include <utility>

#include "graph/node.h"

namespace wengert {

// The gradients of <of, cotangent> at edges behind `of`; undefined where it does not depend on one. The engine provides it.
inline TensorList (*derivatives_of)(const Tensor& of, EdgeList edges, const Tensor& cotangent,
                                    bool create_graph) = nullptr;

// A base of nodes that may need a recorded pass.
class NeedsRecordedPass {
public:
    NeedsRecordedPass() noexcept = default;
    NeedsRecordedPass(const NeedsRecordedPass&) = delete;
    virtual ~NeedsRecordedPass() { need_recorded_pass(false); }

    bool needs_recorded_pass() const noexcept { return needed_; }
    void need_recorded_pass(bool on) noexcept {
        if (std::exchange(needed_, on) != on) count_.fetch_add(on ? 1 : -1, std::memory_order_relaxed);
    }
    static bool any() noexcept { return count_.load(std::memory_order_relaxed) > 0; }

private:
    inline static constinit std::atomic<int64_t> count_{0};
    bool needed_ = false;
};

}  // namespace wengert
