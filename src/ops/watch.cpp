#include "ops/watch.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "base/memory/immortal.h"
#include "ops/retired_observers.h"

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
namespace {

std::atomic<int> telling{0};  // threads that walk along their observers
std::mutex retired_mutex;
std::vector<std::unique_ptr<OperationObserver>>& retired() {
    static Immortal<std::vector<std::unique_ptr<OperationObserver>>> list;
    return *list;
}

void let_go_of_retired() noexcept {
    std::vector<std::unique_ptr<OperationObserver>> gone;  // ends after the lock: user code may run
    std::lock_guard lock(retired_mutex);
    if (telling.load() == 0) gone.swap(retired());
}

class Telling {
public:
    Telling() noexcept { ++telling; }
    ~Telling() {
        if (--telling == 0) let_go_of_retired();
    }
    Telling(const Telling&) = delete;
};

}  // namespace

void retire(std::unique_ptr<OperationObserver> observer) noexcept {
    try {
        std::lock_guard lock(retired_mutex);
        retired().reserve(retired().size() + 1);
        retired().push_back(std::move(observer));
    } catch (const std::bad_alloc&) {
        (void)observer.release();  // better never destroyed than under the feet of a thread that walks along
    }
    let_go_of_retired();
}

// Tells all of them, or, where one raises, those that were told that it is over.
template <class Enter, class Leave>
void enter_all(Enter&& enter, Leave&& leave) {
    const Telling telling;
    OperationObserver* o = state.observers;
    try {
        for (; o; o = o->outer()) enter(*o);
    } catch (...) {
        for (OperationObserver* told = state.observers; told && told != o; told = told->outer()) leave(*told);
        throw;
    }
}

void WatchedCall::begin(const OperationCall& call) {
    enter_all([&](OperationObserver& o) { o.enter(call); }, [](OperationObserver& o) { o.leave(); });
    told_ = true;
}
void WatchedCall::end() noexcept {
    for (OperationObserver* o = state.observers; o; o = o->outer()) o->leave();
}
void WatchedNode::begin(const Node& node, const TensorList& grads, bool body) {
    enter_all([&](OperationObserver& o) { o.enter_node(node, grads, body); },
              [](OperationObserver& o) { o.leave_node(); });
    told_ = true;
}
void WatchedNode::end() noexcept {
    for (OperationObserver* o = state.observers; o; o = o->outer()) o->leave_node();
}

}  // namespace wengert
