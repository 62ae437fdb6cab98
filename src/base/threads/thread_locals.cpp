#include "base/threads/thread_locals.h"

#include <utility>

#include "base/memory/immortal.h"

namespace wengert {
namespace {

std::vector<ThreadLocals::Kind>& kinds() {
    static Immortal<std::vector<ThreadLocals::Kind>> list;
    return *list;
}

constinit thread_local ThreadLocals::Pass* innermost_pass = nullptr;

std::vector<ThreadLocals::Value> carried_values() {
    std::vector<ThreadLocals::Value> values;
    for (const ThreadLocals::Kind& kind : kinds()) values.push_back(kind.get());
    return values;
}

void install_values(const std::vector<ThreadLocals::Value>& values) {
    for (size_t i = 0; i < values.size(); ++i) kinds()[i].set(values[i]);
}

}  // namespace

void ThreadLocals::carry(Kind kind) { kinds().push_back(kind); }

ThreadLocals ThreadLocals::capture() {
    ThreadLocals now;
    now.state_ = state;
    now.values_ = carried_values();
    return now;
}

void ThreadLocals::install() const {
    state = state_;
    install_values(values_);
}

ThreadLocals::Scope::Scope(const ThreadLocals& captured) : previous_(std::make_unique<ThreadLocals>(capture())) {
    captured.install();
}

ThreadLocals::Scope::~Scope() { previous_->install(); }

ThreadLocals::Pass::Pass() noexcept : outer_(std::exchange(innermost_pass, this)) {}

ThreadLocals::Pass::~Pass() {
    innermost_pass = outer_;
    undo();
}

void ThreadLocals::Pass::restore() { install_values(*std::exchange(before_, nullptr)); }

void ThreadLocals::changing() {
    if (innermost_pass && !innermost_pass->before_)
        innermost_pass->before_ = std::make_unique<std::vector<Value>>(carried_values());
}

}  // namespace wengert
