#include "ops/watch.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "base/memory/immortal.h"
#include "graph/autograd_meta.h"
#include "kernels/queries.h"
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

// --- Modes of tensors
void set_mode_of(const Tensor& t, OperationMode* mode) {
    materialize_meta(t).extras.make().mode = mode;
    t.impl()->flags |= kDispatched;
}

namespace {

OperationMode* mode_of(const TensorImpl* t) noexcept {
    return t && t->flags & kDispatched ? meta_of(t)->extras.get()->mode : nullptr;
}

OperationMode* mode_in(const ArgumentRef& a) noexcept {
    if (a.kind == ArgumentKind::Tensor) return mode_of(a.as<Tensor>().impl());
    if (a.kind == ArgumentKind::Operand) return mode_of(a.as<Operand>().impl());
    if (a.kind == ArgumentKind::Tensors)
        for (const Tensor& t : a.as<TensorSpan>())
            if (OperationMode* mode = mode_of(t.impl())) return mode;
    return nullptr;
}

}  // namespace

OperationMode& mode_for(const OperationCall& call) {
    if (state.modes) return *state.modes;
    for (const ArgumentRef& a : call.arguments)
        if (OperationMode* mode = mode_in(a)) return *mode;
    fail(ErrorKind::Runtime, "[", call.operation.name, "] no mode computes in its place");
}

TensorList compute_by_mode(const OperationCall& call) {
    OperationMode& mode = mode_for(call);
    const ModeAtWork at_work(&mode);
    return mode.compute(call);
}

void write_by_mode(const OperationCall& call, size_t i) {
    OperationMode& mode = mode_for(call);
    const bool of_thread = state.modes;
    {
        const ModeAtWork at_work(&mode);
        mode.compute(call);
    }
    if (of_thread) return;  // who calls the operation again, and is counted there
    const ArgumentRef& written = call.arguments[i];
    const TensorSpan several =
        written.kind == ArgumentKind::Tensors ? written.as<TensorSpan>() : TensorSpan(&written.as<Tensor>(), 1);
    for (const Tensor& t : several) bump_version(t, call.operation.name);
}

Scalar number_of(const Tensor& result, const OperationInfo& operation) {
    check(result.defined() && !has_mode(result), ErrorKind::Type, "[", operation.name, "] a dispatch mode returned ",
          result.defined() ? "a tensor" : "None", " in its place, expected a number");
    return kernels::local_scalar(result);
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
