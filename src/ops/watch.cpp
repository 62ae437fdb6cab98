#include "ops/watch.h"

namespace wengert {

void OperationObserver::push() noexcept {
    outer_ = std::exchange(state.observers, this);
    state.watch |= kWatchObservers;
}

void OperationObserver::pop() noexcept {
    for (OperationObserver** at = &state.observers; *at; at = &(*at)->outer_)
        if (*at == this) {
            *at = outer_;
            break;
        }
    if (!state.observers) state.watch &= ~kWatchObservers;
}

namespace {

void set_innermost(OperationMode* mode) noexcept {
    state.modes = mode;
    state.watch = mode ? state.watch | kWatchModes : state.watch & ~kWatchModes;
}

}  // namespace

void OperationMode::push() noexcept {
    outer_ = state.modes;
    set_innermost(this);
}

void OperationMode::pop() noexcept {
    for (OperationMode** at = &state.modes; *at; at = &(*at)->outer_)
        if (*at == this) {
            *at = outer_;
            break;
        }
    set_innermost(state.modes);
}

ModeAtWork::ModeAtWork(OperationMode* mode) noexcept
    : mode_(std::exchange(state.modes, mode->outer())), no_grad_(false), no_forward_(false) {
    set_innermost(state.modes);
}
ModeAtWork::~ModeAtWork() { set_innermost(mode_); }

TensorList compute_by_mode(const OperationCall& call) {
    OperationMode* mode = state.modes;
    ModeAtWork at_work(mode);
    return mode->compute(call);
}

Tensor& nth_result(TensorList& results, size_t i, size_t expected, const OperationInfo& operation) {
    check(results.size() == expected, ErrorKind::Type, "[", operation.name, "] a dispatch mode returned ",
          results.size(), " tensors in its place, expected ", expected);
    return results[i];
}

// --- Observers: all of a thread's are told, the innermost first
void WatchedCall::begin(const OperationCall& call) {
    told_ = true;
    for (OperationObserver* o = state.observers; o; o = o->outer()) o->enter(call);
}
void WatchedCall::end() noexcept {
    for (OperationObserver* o = state.observers; o; o = o->outer()) o->leave();
}
void WatchedNode::begin(const Node& node, const TensorList& grads, bool body) {
    told_ = true;
    for (OperationObserver* o = state.observers; o; o = o->outer()) o->enter_node(node, grads, body);
}
void WatchedNode::end() noexcept {
    for (OperationObserver* o = state.observers; o; o = o->outer()) o->leave_node();
}

}  // namespace wengert
