// Forward mode: tangents by level.
//
// A dual level is one forward differentiation in progress; levels nest, the innermost has the highest number. A tensor
// carries at most one tangent a level, and a tangent may itself carry tangents of lower levels: that is how higher
// derivatives arise. An operation looks only at the highest level among its operands. It computes its result and the
// tangent's formula under a `LevelGuard`, which hides that level and everything above it, so both see plain numbers
// of the next lower level; then it attaches the tangent to the result. Recursion depth is the number of levels.
//
// Leaving a level removes its tangents from every tensor that still carries one: each level keeps its tangents in a
// linked list. They are destroyed after the lock is released, since a tangent may own a graph that owns tangents.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/state.h"
#include "graph/grad_mode.h"
#include "tensor/tensor.h"

namespace wengert {

class ForwardGrad;

struct Tangent : SlabAllocated {
    Tensor value;
    int32_t level;
    ForwardGrad* owner;
    Tangent* previous;  // in the level's list
    Tangent* next;
};

// The tangents of one tensor; owned by its AutogradMeta or by a SavedVariable.
class ForwardGrad : public SlabAllocated {
public:
    explicit ForwardGrad(TensorImpl* tensor) noexcept : tensor_(tensor) {}
    ForwardGrad(const ForwardGrad&) = delete;
    ~ForwardGrad();

    Tensor at(int32_t level) const;
    void set(int32_t level, Tensor value);  // an undefined value removes
    bool empty() const noexcept { return tangents_.empty(); }
    int32_t highest_seen() const noexcept;  // by this thread; -1: none
    SmallVector<int32_t, 2> levels() const;

private:
    friend void exit_dual_level(int32_t);
    TensorImpl* tensor_;
    SmallVector<Tangent*, 1> tangents_;
};

int32_t enter_dual_level();
void exit_dual_level(int32_t level);      // must be the innermost
int32_t innermost_dual_level() noexcept;  // -1: none

// Hides `level` and the levels above it on this thread, of those that are open: what a formula opens itself (a custom
// function's jvp that calls func.jvp) it sees.
class LevelGuard {
public:
    explicit LevelGuard(int32_t level) noexcept
        : from_(std::exchange(state.hidden_from, std::min(level, state.hidden_from))),
          to_(std::exchange(state.hidden_to, open_dual_levels.load(std::memory_order_relaxed))) {}
    ~LevelGuard() {
        state.hidden_from = from_;
        state.hidden_to = to_;
    }
    LevelGuard(const LevelGuard&) = delete;

private:
    int32_t from_, to_;
};
// Whether this thread sees a level that is open.
bool sees_level(int32_t level) noexcept;

// The highest level at which `t` carries a tangent that is visible on this thread, or -1.
int32_t visible_level(const TensorImpl* t) noexcept;
Tensor tangent_at(const TensorImpl* t, int32_t level);  // undefined: zero
void set_tangent(const Tensor& t, int32_t level, Tensor tangent);
void copy_all_tangents(const Tensor& from, const Tensor& to);
inline void copy_tangents(const Tensor& from, const Tensor& to) {
    if (from.flags() & kHasTangent) [[unlikely]]
        copy_all_tangents(from, to);
}

}  // namespace wengert
