// Modes as context managers, entered and left in one step.
//
// A signal may raise (Ctrl-C) between any two steps of a Python function. A context manager whose __enter__ is Python code
// can therefore be interrupted when the mode is on and nobody has promised to switch it off yet. These are C: the
// interpreter calls them for `with` and hears of signals before and after, never between. The modes of the package are
// Python classes on top of them, which add names, documentation and decoration, and leave __enter__ and __exit__ alone.
//
// What was before is kept in a stack, so that one object may be entered again while it is open.
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/place.h"
#include "graph/forward_grad.h"
#include "graph/grad_mode.h"
#include "graph/level_floor.h"
#include "graph/node.h"
#include "graph/strict_singular.h"
#include "python/arguments/overrides.h"
#include "python/autograd/modes/grad_modes.h"
#include "python/autograd/modes/scope_type.h"
#include "python/autograd/saved_hooks.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

// --- Flags, and numbers of a thread
struct Flag {
    const char* name;
    int64_t (*get)();
    void (*set)(int64_t value);
};

template <auto Get, auto Set>
constexpr Flag flag(const char* name) {
    return {name, [] { return static_cast<int64_t>(Get()); }, [](int64_t value) { Set(value != 0); }};
}

bool multithreading() { return state.multithreading; }
void set_multithreading(bool on) { state.multithreading = on; }
bool view_replay() { return state.view_replay; }
void set_view_replay(bool on) { state.view_replay = on; }
bool grad_layout() { return state.grad_layout; }
void set_grad_layout(bool on) { state.grad_layout = on; }
bool overrides_off() { return overrides_disabled; }
void set_overrides_off(bool off) { overrides_disabled = off; }

// Bit 0: on; bit 1: results are searched for NaN.
int64_t anomaly() { return AnomalyMode::is_enabled() | AnomalyMode::should_check_nan() << 1; }
void set_anomaly(int64_t bits) { AnomalyMode::set_enabled(bits & 1, bits & 2); }

// Tangents below the floor are not seen.
int64_t forward_floor() { return level_floor(); }
void set_forward_floor(int64_t level) { exchange_level_floor(static_cast<int32_t>(level)); }

constexpr Flag flags[] = {
    flag<GradMode::flag, GradMode::set_enabled>("set_grad_enabled"),
    flag<GradMode::is_forward_enabled, GradMode::set_forward_enabled>("_set_fwd_grad_enabled"),
    flag<multithreading, set_multithreading>("set_multithreading_enabled"),
    flag<view_replay, set_view_replay>("_force_original_view_tracking"),
    flag<grad_layout, set_grad_layout>("enforce_grad_layout_policy"),
    flag<strict_singular, set_strict_singular>("set_strict_singular"),
    flag<DebugMode::is_enabled, DebugMode::set_enabled>("set_debug_mode"),
    flag<overrides_off, set_overrides_off>("overrides_disabled"),
    {"anomaly", anomaly, set_anomaly},
    {"forward_floor", forward_floor, set_forward_floor},
};

struct SwitchObject {
    PyObject_HEAD const Flag* flag;
    int64_t value, previous;       // `previous`: at construction
    std::vector<int64_t> entered;  // what was, for each entry
};
SwitchObject* as_switch(PyObject* o) noexcept { return reinterpret_cast<SwitchObject*>(o); }

PyObject* switch_new(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* o = type->tp_alloc(type, 0);
    if (!o) return nullptr;
    new (&as_switch(o)->entered) std::vector<int64_t>();
    as_switch(o)->flag = nullptr;
    return o;
}
void switch_dealloc(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    as_switch(o)->entered.~vector();
    type->tp_free(o);
    Py_DECREF(type);
}
// _Switch(flag, value, at_once=False)
int switch_init(PyObject* o, PyObject* args, PyObject*) {
    return guarded_status([&] {
        const char* name;
        long long value;
        int at_once = 0;
        if (!PyArg_ParseTuple(args, "sL|p", &name, &value, &at_once)) throw PyException();
        SwitchObject* s = as_switch(o);
        const Flag* found =
            std::ranges::find_if(flags, [&](const Flag& f) { return std::string_view(name) == f.name; });
        check(found != std::end(flags), ErrorKind::Value, "_Switch: no flag is called '", name, "'");
        s->flag = found;
        s->value = value;
        s->previous = found->get();
        s->entered.reserve(1);  // so that it can be entered, whatever memory is left when it has been switched
        // Signals that have come are heard first: between this and `with` there is no other moment for them.
        if (at_once && PyErr_CheckSignals() < 0) throw PyException();
        if (at_once) found->set(value);
    });
}
const Flag& flag_of(SwitchObject* s) {
    check(s->flag, ErrorKind::Runtime, "a mode whose __init__ has not run");
    return *s->flag;
}
PyObject* switch_enter(PyObject* o, PyObject*) {
    return guarded([&] {
        SwitchObject* s = as_switch(o);
        const Flag& flag = flag_of(s);
        s->entered.push_back(flag.get());
        flag.set(s->value);
        return Py_NewRef(Py_None);
    });
}
PyObject* switch_exit(PyObject* o, PyObject*) {
    return guarded([&] {
        SwitchObject* s = as_switch(o);
        const Flag& flag = flag_of(s);
        check(!s->entered.empty(), ErrorKind::Runtime, "leaving a mode that was not entered");
        flag.set(s->entered.back());
        s->entered.pop_back();
        return Py_NewRef(Py_None);
    });
}
// The state at construction again.
PyObject* switch_undo(PyObject* o, PyObject*) {
    return guarded([&] {
        flag_of(as_switch(o)).set(as_switch(o)->previous);
        return Py_NewRef(Py_None);
    });
}
// As switch_exit, to the state at construction: of a mode that was switched at once.
PyObject* undo_exit(PyObject* o, PyObject*) {
    return guarded([&] {
        SwitchObject* s = as_switch(o);
        flag_of(s).set(s->previous);
        if (!s->entered.empty()) s->entered.pop_back();
        return Py_NewRef(Py_None);
    });
}
PyObject* switch_previous(PyObject* o, void*) { return PyLong_FromLongLong(as_switch(o)->previous); }

PyMethodDef switch_methods[] = {
    {"__enter__", switch_enter, METH_NOARGS, nullptr},
    exit_method<switch_exit>(),
    {"_undo", switch_undo, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef switch_getset[] = {
    {"_previous", switch_previous, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot switch_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(switch_new)},
    {Py_tp_init, reinterpret_cast<void*>(switch_init)},
    {Py_tp_dealloc, reinterpret_cast<void*>(switch_dealloc)},
    {Py_tp_methods, switch_methods},
    {Py_tp_getset, switch_getset},
    {0, nullptr},
};
PyType_Spec switch_spec = {"wengert._C._Switch", sizeof(SwitchObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           switch_slots};

PyMethodDef at_once_methods[] = {
    exit_method<undo_exit>(),
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot at_once_slots[] = {
    {Py_tp_methods, at_once_methods},
    {0, nullptr},
};
// One that was switched when it was made: leaving it restores what was before that.
PyType_Spec at_once_spec = {"wengert._C._SwitchAtOnce", sizeof(SwitchObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, at_once_slots};

// --- Scopes that C++ has an object for
struct InferenceScope {
    static constexpr const char* name = "wengert._C._InferenceMode";
    InferenceMode guard;
    explicit InferenceScope(PyObject* arguments) : guard(PyTuple_GET_SIZE(arguments) == 0 || is_true(arguments)) {}
    PyObject* value() const { return Py_NewRef(Py_None); }
    static bool is_true(PyObject* arguments) {
        const int truth = PyObject_IsTrue(PyTuple_GET_ITEM(arguments, 0));
        checked(truth);
        return truth;
    }
};

struct DualLevelScope {
    static constexpr const char* name = "wengert._C._DualLevel";
    const int32_t level = enter_dual_level();
    explicit DualLevelScope(PyObject*) {}
    PyObject* value() const { return PyLong_FromLong(level); }
    void leave() { exit_dual_level(level); }
};

// --- Contexts of several steps, each of which can be undone
//
// A subclass defines `_open`, in Python. There it enters other contexts, `self.enter(context)`, which are left in the
// opposite order when the block ends or `_open` is interrupted anywhere; and before any other change it says how to undo
// that, `self.undo(f, *args)`, with a function of C (setattr, set.discard), so that nothing can come between.
struct UndoObject {
    struct Step {
        PyRef function, arguments;
    };
    PyObject_HEAD std::vector<Step> steps;
    std::vector<size_t> entered;  // how many there were, for each entry
};
UndoObject* as_undo(PyObject* o) noexcept { return reinterpret_cast<UndoObject*>(o); }

PyObject* undo_new(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* o = type->tp_alloc(type, 0);
    if (!o) return nullptr;
    new (&as_undo(o)->steps) std::vector<UndoObject::Step>();
    new (&as_undo(o)->entered) std::vector<size_t>();
    return o;
}
int undo_traverse(PyObject* o, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(o));
    for (const UndoObject::Step& step : as_undo(o)->steps) {
        Py_VISIT(step.function.get());
        Py_VISIT(step.arguments.get());
    }
    return 0;
}
int undo_clear(PyObject* o) {
    const auto steps = std::exchange(as_undo(o)->steps, {});
    return 0;
}
void undo_dealloc(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    undo_clear(o);
    std::destroy_at(&as_undo(o)->steps);
    std::destroy_at(&as_undo(o)->entered);
    type->tp_free(o);
    Py_DECREF(type);
}

// Undoes down to `count` steps, all of them whatever some raise; false with the first exception set. All that a step
// needs was made when it was noted: this asks for no memory of its own.
bool undo_down_to(UndoObject* o, size_t count) noexcept {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    while (o->steps.size() > count) {
        const UndoObject::Step step = std::move(o->steps.back());
        o->steps.pop_back();
        const PyRef done(PyObject_CallObject(step.function.get(), step.arguments.get()));
        if (done) continue;
        if (type)
            PyErr_Clear();
        else
            PyErr_Fetch(&type, &value, &traceback);
    }
    if (!type) return true;
    PyErr_Restore(type, value, traceback);
    return false;
}

PyObject* undo_step(PyObject* o, PyObject* step) {
    return guarded([&]() -> PyObject* {
        check(PyTuple_GET_SIZE(step) > 0, ErrorKind::Type, "undo() needs a function");
        PyRef arguments(checked(PyTuple_GetSlice(step, 1, PyTuple_GET_SIZE(step))));
        as_undo(o)->steps.push_back({PyRef::share(PyTuple_GET_ITEM(step, 0)), std::move(arguments)});
        return Py_NewRef(Py_None);
    });
}
// Enters a context; between that and the note that it is to be left nothing can come.
PyObject* undo_enter_other(PyObject* o, PyObject* context) {
    return guarded([&]() -> PyObject* {
        UndoObject* u = as_undo(o);
        PyRef exit(checked(PyObject_GetAttrString(context, "__exit__")));
        PyRef nothing(checked(PyTuple_Pack(3, Py_None, Py_None, Py_None)));
        PyRef enter(checked(PyObject_GetAttrString(context, "__enter__")));
        u->steps.reserve(u->steps.size() + 1);
        PyRef result(checked(PyObject_CallNoArgs(enter.get())));
        u->steps.push_back({std::move(exit), std::move(nothing)});
        return result.release();
    });
}
PyObject* undo_enter(PyObject* o, PyObject*) {
    return guarded([&]() -> PyObject* {
        UndoObject* u = as_undo(o);
        const size_t before = u->steps.size();
        u->entered.push_back(before);
        PyRef result(PyObject_CallMethod(o, "_open", nullptr));
        if (result) return result.release();
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        if (!undo_down_to(u, before)) PyErr_Clear();
        PyErr_Restore(type, value, traceback);
        u->entered.pop_back();
        return nullptr;
    });
}
PyObject* undo_leave(PyObject* o, PyObject*) {
    return guarded([&]() -> PyObject* {
        UndoObject* u = as_undo(o);
        check(!u->entered.empty(), ErrorKind::Runtime, "leaving a context that was not entered");
        const size_t before = u->entered.back();
        u->entered.pop_back();
        return undo_down_to(u, before) ? Py_NewRef(Py_None) : nullptr;
    });
}
PyMethodDef undo_methods[] = {
    {"__enter__", undo_enter, METH_NOARGS, nullptr},
    exit_method<undo_leave>(),
    {"enter", undo_enter_other, METH_O, "enter(context, /)\n--\n\nEnters a context until the block ends."},
    {"undo", undo_step, METH_VARARGS, "undo(function, *arguments)\n--\n\nCalls this when the block ends."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot undo_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(undo_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(undo_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(undo_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(undo_clear)},
    {Py_tp_methods, undo_methods},
    {0, nullptr},
};
PyType_Spec undo_spec = {"wengert._C._Undone", sizeof(UndoObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, undo_slots};

}  // namespace

int add_mode_contexts(PyObject* module) {
    static PyTypeObject *switch_type, *at_once_type, *undo_type;
    if (add_type(module, &switch_spec, &switch_type) < 0 || ScopeType<InferenceScope>::add(module) < 0 ||
        ScopeType<DualLevelScope>::add(module) < 0 || add_saved_hook_contexts(module) < 0 ||
        add_type(module, &undo_spec, &undo_type) < 0)
        return -1;
    PyRef bases(PyTuple_Pack(1, switch_type));
    return bases ? add_type(module, &at_once_spec, &at_once_type, bases.get()) : -1;
}

}  // namespace wengert::python
