#include "graph/forward_grad.h"

#include <mutex>

#include "base/threads/lock.h"
#include "graph/autograd_meta.h"
#include "graph/grad_mode.h"
#include "graph/level_floor.h"

namespace wengert {

constinit std::atomic<int32_t> open_dual_levels = 0;

namespace {

// One list of tangents a level; the sentinel's next is the first.
struct Level {
    Tangent* head = nullptr;
};

ForkSafeMutex levels_mutex{LockRank::Tangents};
std::vector<Level> active_levels;
thread_local int32_t floor_of_thread = 0;

void link(Tangent* t) {
    Level& level = active_levels[t->level];
    t->previous = nullptr;
    t->next = level.head;
    if (t->next) t->next->previous = t;
    level.head = t;
}

void unlink(Tangent* t) {
    if (t->next) t->next->previous = t->previous;
    if (t->previous)
        t->previous->next = t->next;
    else
        active_levels[t->level].head = t->next;
}

// Operations on views ask for tangents only while a level is open.
void note_levels() noexcept {
    open_dual_levels.store(static_cast<int32_t>(active_levels.size()), std::memory_order_relaxed);
    GradMode::refresh_mask();
}

}  // namespace

int32_t level_floor() noexcept { return floor_of_thread; }
int32_t exchange_level_floor(int32_t level) noexcept { return std::exchange(floor_of_thread, level); }

ForwardGrad::~ForwardGrad() {
    {
        std::lock_guard lock(levels_mutex);
        for (Tangent* t : tangents_) unlink(t);
    }
    for (Tangent* t : tangents_) delete t;
}

Tensor ForwardGrad::at(int32_t level) const {
    std::lock_guard lock(levels_mutex);
    for (const Tangent* t : tangents_)
        if (t->level == level) return t->value;
    return {};
}

void ForwardGrad::set(int32_t level, Tensor value) {
    Tensor dropped;  // outlives the lock
    Tangent* removed = nullptr;
    {
        std::lock_guard lock(levels_mutex);
        check(level >= 0 && level < static_cast<int32_t>(active_levels.size()), ErrorKind::Runtime,
              "forward-mode level ", level, " is not active; enter it with forward_ad.dual_level()");
        size_t i = 0;
        while (i < tangents_.size() && tangents_[i]->level != level) ++i;
        if (i < tangents_.size()) {
            if (value.defined()) {
                dropped = std::exchange(tangents_[i]->value, std::move(value));
            } else {
                removed = tangents_[i];
                unlink(removed);
                tangents_.erase(i);
            }
        } else if (value.defined()) {
            auto* t = new Tangent{{}, std::move(value), level, this, nullptr, nullptr};
            link(t);
            tangents_.push_back(t);
        }
        if (tensor_) tensor_->flags = tangents_.empty() ? tensor_->flags & ~kHasTangent : tensor_->flags | kHasTangent;
    }
    delete removed;
}

bool sees_level(int32_t level) noexcept {
    return level >= floor_of_thread && (level < state.hidden_from || level >= state.hidden_to);
}

int32_t ForwardGrad::highest_seen() const noexcept {
    std::lock_guard lock(levels_mutex);
    int32_t highest = -1;
    for (const Tangent* t : tangents_)
        if (sees_level(t->level)) highest = std::max(highest, t->level);
    return highest;
}

SmallVector<int32_t, 2> ForwardGrad::levels() const {
    std::lock_guard lock(levels_mutex);
    SmallVector<int32_t, 2> out;
    for (const Tangent* t : tangents_) out.push_back(t->level);
    return out;
}

int32_t enter_dual_level() {
    std::lock_guard lock(levels_mutex);
    active_levels.emplace_back();
    note_levels();
    return static_cast<int32_t>(active_levels.size()) - 1;
}

void exit_dual_level(int32_t level) {
    Tangent* dead;  // destroyed after the lock is released
    {
        std::lock_guard lock(levels_mutex);
        check(!active_levels.empty() && level == static_cast<int32_t>(active_levels.size()) - 1, ErrorKind::Runtime,
              "Trying to exit a forward AD level that was not the last one that was created: level ", level, " of ",
              active_levels.size(), " active. This is not supported.");
        dead = active_levels.back().head;
        for (Tangent* t = dead; t; t = t->next) {
            auto& siblings = t->owner->tangents_;
            siblings.erase(static_cast<size_t>(std::find(siblings.begin(), siblings.end(), t) - siblings.begin()));
            if (t->owner->tensor_ && siblings.empty()) t->owner->tensor_->flags &= ~kHasTangent;
        }
        active_levels.pop_back();
        note_levels();
    }
    while (dead) delete std::exchange(dead, dead->next);
}

int32_t innermost_dual_level() noexcept {
    std::lock_guard lock(levels_mutex);
    return static_cast<int32_t>(active_levels.size()) - 1;
}

int32_t visible_level(const TensorImpl* t) noexcept {
    if (!(t->flags & kHasTangent & state.mask)) return -1;
    return meta_of(t)->tangents->highest_seen();
}

Tensor tangent_at(const TensorImpl* t, int32_t level) {
    if (!(t->flags & kHasTangent)) return {};
    return meta_of(t)->tangents->at(level);
}

void set_tangent(const Tensor& t, int32_t level, Tensor tangent) {
    if (!tangent.defined() && !(t.flags() & kHasTangent)) return;
    AutogradMeta& meta = materialize_meta(t);
    if (!meta.tangents) meta.tangents = std::make_unique<ForwardGrad>(t.impl());
    meta.tangents->set(level, std::move(tangent));
}

void copy_all_tangents(const Tensor& from, const Tensor& to) {
    const ForwardGrad& tangents = *meta_of(from)->tangents;
    for (int32_t level : tangents.levels()) set_tangent(to, level, tangents.at(level));
}

}  // namespace wengert
