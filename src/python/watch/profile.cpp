#include "python/watch/profile.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "ops/retired_observers.h"
#include "python/autograd/modes/scope_type.h"
#include "python/watch/boxing.h"
#include "tensor/storage.h"

namespace wengert::python {
namespace {

int64_t now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// --- Memory is counted while any profile wants it
int memory_users = 0;

void tell_observers(int64_t change) noexcept {
    for (OperationObserver* o = state.observers; o; o = o->outer()) o->memory(change);
}
void count_memory(int change) noexcept {
    memory_users += change;
    memory_watch.store(memory_users > 0 ? tell_observers : nullptr, std::memory_order_relaxed);
    inline_limit.store(memory_users > 0 ? 0 : kSlabLimit, std::memory_order_relaxed);
}

// Held where an event has objects of Python: also while it is dropped, should memory come to its end.
class ObjectsGil {
public:
    explicit ObjectsGil(const ProfileOptions& options) {
        if (options.shapes || options.stack) gil_.emplace();
    }

private:
    std::optional<GilGuard> gil_;
};

bool takes_tensors(const OperationCall& call) noexcept {
    return std::ranges::any_of(call.arguments, [](const ArgumentRef& a) {
        return a.kind == ArgumentKind::Tensor || a.kind == ArgumentKind::Operand || a.kind == ArgumentKind::Tensors;
    });
}

}  // namespace

void Profile::start(PyObject* token) {
    check(!started_, ErrorKind::Runtime, "this profile has been started already");
    started_ = true;
    token_ = Py_NewRef(token);
    owner_ = this_thread_number();
    push();
    if (options_.memory) count_memory(1);
}

PyObject* Profile::stop() {
    check(is_running(), ErrorKind::Runtime, "this profile has been stopped already");
    check(owner_ == this_thread_number(), ErrorKind::Runtime, "a profile is stopped on the thread that started it");
    pop();
    if (options_.memory) count_memory(-1);
    const PyRef token(std::exchange(token_, nullptr));
    std::vector<ProfileEvent> events;  // told without the lock: making objects may run user code
    {
        std::lock_guard lock(mutex_);
        const int64_t end = now();
        for (auto& [number, thread] : threads_)
            for (size_t i : thread.open) events_[i].end = end;
        threads_.clear();
        events.swap(events_);
    }
    std::ranges::stable_sort(events, {}, &ProfileEvent::start);  // those of `add_stretch` come when they have ended
    PyRef list(checked(PyList_New(0)));
    auto object = [](const PyRef& o) { return o ? o.get() : Py_None; };
    for (const ProfileEvent& e : events) {
        PyRef tuple(checked(
            Py_BuildValue("(isLLKKLLOOO)", static_cast<int>(e.kind), e.name.c_str(), static_cast<long long>(e.start),
                          static_cast<long long>(e.end), static_cast<unsigned long long>(e.thread),
                          static_cast<unsigned long long>(e.forward_thread), static_cast<long long>(e.sequence_nr),
                          static_cast<long long>(e.memory), object(e.shapes), object(e.concrete), object(e.stack))));
        checked(PyList_Append(list.get(), tuple.get()));
    }
    return list.release();
}

void Profile::enter(const OperationCall& call) {
    const OperationInfo& op = call.operation;
    const ObjectsGil gil(options_);
    ProfileEvent event{.kind = EventKind::Operation, .name = op.row ? std::string("aten::") + op.name : op.name};
    // A node that the operation makes will get the next number.
    if (GradMode::is_enabled() && takes_tensors(call)) event.sequence_nr = static_cast<int64_t>(state.sequence_nr);
    if (options_.shapes) {
        event.shapes = PyRef(shapes_of(call.arguments));
        event.concrete = PyRef(concrete_of(call.arguments));
    }
    open(std::move(event));
}

void Profile::enter_node(const Node& node, const TensorList& grads, bool body) {
    const ObjectsGil gil(options_);
    ProfileEvent event{.kind = body ? EventKind::Body : EventKind::Evaluation,
                       .name = body ? node.name() : "autograd::engine::evaluate_function: " + node.name()};
    if (node.sequence_nr() != kFirstSequenceNr) {
        event.sequence_nr = static_cast<int64_t>(node.sequence_nr());
        event.forward_thread = node.thread_id();
    }
    if (options_.shapes && body) {
        std::vector<ArgumentRef> refs;
        for (const Tensor& grad : grads) refs.push_back(refer(grad));
        event.shapes = PyRef(shapes_of(refs));
        event.concrete = PyRef(concrete_of(refs));
    }
    open(std::move(event));
}

void Profile::enter_stretch(const std::string& name, uint64_t token) {
    const ObjectsGil gil(options_);
    ProfileEvent event{.kind = EventKind::Stretch, .name = name};
    event.token = token;
    open(std::move(event));
}

void Profile::open(ProfileEvent event) {
    if (options_.stack) event.stack = PyRef(frames_list(all_frames()));
    event.thread = this_thread_number();
    std::lock_guard lock(mutex_);
    Thread& thread = threads_[event.thread];
    thread.open.reserve(thread.open.size() + 1);
    event.memory = -thread.bytes;
    event.start = now();
    events_.push_back(std::move(event));
    thread.open.push_back(events_.size() - 1);
}

void Profile::close(uint64_t token) noexcept {
    const int64_t end = now();
    std::lock_guard lock(mutex_);
    auto finish = [&](Thread& thread, size_t at) {
        ProfileEvent& event = events_[thread.open[at]];
        event.end = end;
        event.memory += thread.bytes;
        thread.open.erase(thread.open.begin() + static_cast<std::ptrdiff_t>(at));
    };
    if (token == 0) {
        const auto found = threads_.find(this_thread_number());
        if (found == threads_.end()) return;
        Thread& thread = found->second;
        // Stretches that were left open inside are the user's to close.
        for (size_t at = thread.open.size(); at-- > 0;)
            if (events_[thread.open[at]].kind != EventKind::Stretch) return finish(thread, at);
        return;
    }
    for (auto& [number, thread] : threads_)
        for (size_t at = thread.open.size(); at-- > 0;)
            if (events_[thread.open[at]].token == token) return finish(thread, at);
}

void Profile::memory(int64_t change) noexcept {
    std::lock_guard lock(mutex_);
    try {
        Thread& thread = threads_[this_thread_number()];
        thread.bytes += change;
        if (!thread.open.empty()) return;
        ProfileEvent event{.kind = EventKind::Memory, .name = "[memory]"};
        event.thread = this_thread_number();
        event.start = event.end = now();
        event.memory = change;
        events_.push_back(std::move(event));
    } catch (const std::bad_alloc&) {
        // Where memory has come to its end, this event is lost.
    }
}

void Profile::add_stretch(const std::string& name, int64_t start, int64_t end) {
    ProfileEvent event{.kind = EventKind::Stretch, .name = name, .start = start, .end = end};
    event.thread = this_thread_number();
    std::lock_guard lock(mutex_);
    if (is_running()) events_.push_back(std::move(event));
}

// --- Bindings
namespace {

constexpr const char* kCapsule = "wengert.Profile";

void drop(PyObject* capsule) {
    auto* profile = static_cast<Profile*>(PyCapsule_GetPointer(capsule, kCapsule));
    retire(std::unique_ptr<Profile>(profile));
}

Profile* profile_in(PyObject* capsule) {
    auto* profile = static_cast<Profile*>(PyCapsule_GetPointer(capsule, kCapsule));
    if (!profile) throw PyException();
    return profile;
}

PyObject* make_profile(PyObject*, PyObject* args) {
    int shapes, memory, stack;
    if (!PyArg_ParseTuple(args, "ppp", &shapes, &memory, &stack)) return nullptr;
    return guarded([&] {
        auto profile = std::make_unique<Profile>(
            ProfileOptions{.shapes = shapes != 0, .memory = memory != 0, .stack = stack != 0});
        PyRef capsule(checked(PyCapsule_New(profile.get(), kCapsule, drop)));
        (void)profile.release();
        return capsule.release();
    });
}

PyObject* start_profile(PyObject*, PyObject* capsule) {
    return guarded([&] {
        profile_in(capsule)->start(capsule);
        return Py_NewRef(Py_None);
    });
}

PyObject* stop_profile(PyObject*, PyObject* args) {
    PyObject *capsule, *owner;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &owner)) return nullptr;
    return guarded([&] {
        Profile* profile = profile_in(capsule);
        if (profile->is_running()) {
            const PyRef events(profile->stop());
            if (PyObject_SetAttrString(owner, "_recorded", events.get()) < 0) throw PyException();
        }
        return Py_NewRef(Py_None);
    });
}

PyObject* is_profiling(PyObject*, PyObject*) {
    for (OperationObserver* o = state.observers; o; o = o->outer())
        if (dynamic_cast<Profile*>(o)) Py_RETURN_TRUE;
    Py_RETURN_FALSE;
}

PyObject* running_profiles(PyObject*, PyObject*) {
    return guarded([&] {
        PyRef list(checked(PyList_New(0)));
        for (OperationObserver* o = state.observers; o; o = o->outer())
            if (auto* profile = dynamic_cast<Profile*>(o); profile && profile->is_running())
                checked(PyList_Append(list.get(), profile->token()));
        return list.release();
    });
}

PyObject* add_stretch(PyObject*, PyObject* args) {
    PyObject* capsule;
    const char* name;
    long long start, end;
    if (!PyArg_ParseTuple(args, "OsLL", &capsule, &name, &start, &end)) return nullptr;
    return guarded([&] {
        profile_in(capsule)->add_stretch(name, start, end);
        return Py_NewRef(Py_None);
    });
}

// A stretch of the program that has a name: the attribute `name` of the context. Nothing where nobody listens.
class Stretch {
public:
    static constexpr const char* name = "wengert._C._Stretch";
    static constexpr bool kMayBeLeftTwice = true;

    Stretch(PyObject*, PyObject* context) : context_(context) {
        static std::atomic<uint64_t> next{1};
        if (!state.observers) return;
        const PyRef word(checked(PyObject_GetAttrString(context, "name")));
        const char* text = PyUnicode_AsUTF8(word.get());
        if (!text) throw PyException();
        token_ = next++;
        try {
            for (OperationObserver* o = state.observers; o; o = o->outer()) o->enter_stretch(text, token_);
        } catch (...) {
            leave();
            throw;
        }
    }
    Stretch(const Stretch&) = delete;
    void leave() noexcept {  // an observer that does not know the token does nothing
        if (token_ == 0) return;
        for (OperationObserver* o = state.observers; o; o = o->outer()) o->leave_stretch(token_);
    }
    PyObject* value() const { return Py_NewRef(context_); }

private:
    PyObject* context_;  // owns this
    uint64_t token_ = 0;
};

PyMethodDef functions[] = {
    {"_profile_make", make_profile, METH_VARARGS, "_profile_make(shapes, memory, stack) -> profile"},
    {"_profile_start", start_profile, METH_O, nullptr},
    {"_profile_stop", stop_profile, METH_VARARGS,
     "_profile_stop(profile, owner)\n--\n\nSets owner._recorded, unless the profile does not run."},
    {"_is_profiling", is_profiling, METH_NOARGS, nullptr},
    {"_running_profiles", running_profiles, METH_NOARGS, "_running_profiles() -> those of this thread"},
    {"_profile_add", add_stretch, METH_VARARGS,
     "_profile_add(profile, name, start, end)\n--\n\nFrom any thread; times are those of time.monotonic_ns."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_profile_functions(PyObject* module) {
    return ScopeType<Stretch>::add(module) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
