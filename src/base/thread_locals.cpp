#include "base/thread_locals.h"

namespace wengert {
namespace {

std::vector<ThreadLocals::Kind>& kinds() {
    static auto* list = new std::vector<ThreadLocals::Kind>;
    return *list;
}

}  // namespace

void ThreadLocals::carry(Kind kind) { kinds().push_back(kind); }

ThreadLocals ThreadLocals::capture() {
    ThreadLocals now;
    now.state_ = state;
    for (const Kind& kind : kinds()) now.values_.push_back(kind.get());
    return now;
}

void ThreadLocals::install() const {
    state = state_;
    for (size_t i = 0; i < values_.size(); ++i) kinds()[i].set(values_[i]);
}

ThreadLocals::Scope::Scope(const ThreadLocals& captured) : previous_(std::make_unique<ThreadLocals>(capture())) {
    captured.install();
}

ThreadLocals::Scope::~Scope() { previous_->install(); }

}  // namespace wengert
