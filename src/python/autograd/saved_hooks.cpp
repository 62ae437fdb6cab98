#include "python/autograd/saved_hooks.h"

#include "python/autograd/modes/scope_type.h"

#include <memory>
#include <string>
#include <vector>

#include "base/threads/thread_locals.h"
#include "python/autograd/collection/shared_objects.h"
#include "python/exceptions.h"
#include "python/objects/tensor_object.h"
#include "python/registry.h"

namespace wengert::python {
namespace {

class PySavedHooks final : public SavedVariableHooks, OwnsPython {
public:
    PySavedHooks(PyObject* pack, PyObject* unpack) noexcept : pack_(Py_NewRef(pack)), unpack_(Py_NewRef(unpack)) {}
    ~PySavedHooks() override {
        if (!has_interpreter()) return;
        GilGuard gil;
        Py_XDECREF(pack_);
        Py_DECREF(unpack_);
        Py_XDECREF(data_);
    }

    void pack(const Tensor& t) override {
        GilGuard gil;
        PyRef given(checked(wrap(t)));
        data_ = checked(PyObject_CallOneArg(pack_, given.get()));
        Py_CLEAR(pack_);
    }

    Tensor unpack() override {
        GilGuard gil;
        PyRef result(checked(PyObject_CallOneArg(unpack_, data_)));
        check(is_tensor(result.get()), ErrorKind::Type,
              "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ",
              Py_TYPE(result.get())->tp_name);
        return tensor_of(result.get());
    }

    PyObject* data() const noexcept { return Py_NewRef(data_ ? data_ : Py_None); }
    PyObject* unpack_function() const noexcept { return Py_NewRef(unpack_); }

    int visit(visitproc visit, void* arg) {
        Py_VISIT(pack_);
        Py_VISIT(unpack_);
        Py_VISIT(data_);
        return 0;
    }

private:
    PyObject* pack_;
    PyObject* unpack_;
    PyObject* data_ = nullptr;
};

// One pair, owned; the last owner may be a thread that does not hold the GIL.
struct Pair {
    Pair(PyObject* pack, PyObject* unpack) noexcept : pack(Py_NewRef(pack)), unpack(Py_NewRef(unpack)) {}
    Pair(const Pair&) = delete;
    ~Pair() {
        if (!has_interpreter()) return;
        GilGuard gil;
        Py_DECREF(pack);
        Py_DECREF(unpack);
    }
    PyObject *pack, *unpack;
};

// Per thread, the innermost pair first. A scope is never changed, so that a pass takes them to another thread by a
// pointer, and leaving one needs no memory.
struct Scope {
    Scope(PyObject* pack, PyObject* unpack, std::shared_ptr<const Scope> outside)
        : pair(std::make_shared<Pair>(pack, unpack)), outer(std::move(outside)) {}
    std::shared_ptr<const Pair> pair;
    std::shared_ptr<const Scope> outer;
};
// Scopes, and a message: why hooks are disabled. Pointers: see slab_lists in base/memory/slab.h. No variable template: of those g++
// does not run the destructors of a thread that ends.
thread_local std::unique_ptr<std::shared_ptr<const Scope>> held_scopes;
thread_local std::unique_ptr<std::shared_ptr<const std::string>> held_message;

template <class T>
std::unique_ptr<std::shared_ptr<const T>>& held() noexcept {
    if constexpr (std::is_same_v<T, Scope>)
        return held_scopes;
    else
        return held_message;
}

template <class T>
std::shared_ptr<const T>& current() {
    if (!held<T>()) held<T>() = std::make_unique<std::shared_ptr<const T>>();
    return *held<T>();
}
const Scope* scope() noexcept { return held<Scope>() ? held<Scope>()->get() : nullptr; }
const std::string* disabled() noexcept { return held<std::string>() ? held<std::string>()->get() : nullptr; }

std::unique_ptr<SavedVariableHooks> innermost() {
    std::shared_ptr<const Pair> pair = scope()->pair;
    GilGuard gil;
    return make_saved_hooks(pair->pack, pair->unpack);
}

void set_scope(std::shared_ptr<const Scope> changed) {
    auto& place = current<Scope>();
    SavedTensorDefaultHooks::factory = changed ? innermost : nullptr;
    place.swap(changed);  // user code may run when the old one dies
}
void set_disabled(std::shared_ptr<const std::string> message) { current<std::string>().swap(message); }

void push(PyObject* pack, PyObject* unpack) {
    check(PyCallable_Check(pack) && PyCallable_Check(unpack), ErrorKind::Type,
          "saved_tensors_hooks expects two callables, got ", Py_TYPE(pack)->tp_name, " and ", Py_TYPE(unpack)->tp_name);
    if (const std::string* why = disabled()) fail(ErrorKind::Runtime, *why);
    ThreadLocals::changing();
    set_scope(std::make_shared<Scope>(pack, unpack, current<Scope>()));
}

void pop() {
    // A scope left twice, or inside an unpack hook, must not bring the process down.
    check(scope() != nullptr, ErrorKind::Runtime, "leaving a saved_tensors_hooks scope that is not active");
    ThreadLocals::changing();
    set_scope(scope()->outer);
}

void disable(PyObject* message) {
    check(PyUnicode_Check(message), ErrorKind::Type, "disable_saved_tensors_hooks expects a message (str)");
    const char* text = PyUnicode_AsUTF8(message);
    if (!text) throw PyException();
    check(!scope(), ErrorKind::Runtime, text);
    ThreadLocals::changing();
    set_disabled(std::make_shared<const std::string>(text));
}

void restore_disabled(std::shared_ptr<const std::string> message) {
    ThreadLocals::changing();
    set_disabled(std::move(message));
}

template <class F>
PyObject* returning_none(F&& f) noexcept {
    return guarded([&] {
        f();
        return Py_NewRef(Py_None);
    });
}

PyObject* push_function(PyObject*, PyObject* args) {
    return returning_none([&] {
        PyObject *pack, *unpack;
        if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) throw PyException();
        push(pack, unpack);
    });
}
PyObject* pop_function(PyObject*, PyObject*) { return returning_none(pop); }
PyObject* disable_function(PyObject*, PyObject* message) {
    return returning_none([&] { disable(message); });
}
PyObject* enable_function(PyObject*, PyObject*) {
    return returning_none([] { restore_disabled(nullptr); });
}

PyObject* disabled_message(PyObject*, PyObject*) {
    return disabled() ? PyUnicode_FromString(disabled()->c_str()) : Py_NewRef(Py_None);
}
PyObject* is_allowed(PyObject*, PyObject*) { return PyBool_FromLong(!disabled()); }

// --- As context managers, entered and left in one step (mode_contexts.cpp)

PyObject* hooks_enter(PyObject* self, PyObject*) {
    return returning_none([&] {
        PyRef pack(checked(PyObject_GetAttrString(self, "pack_hook")));
        PyRef unpack(checked(PyObject_GetAttrString(self, "unpack_hook")));
        push(pack.get(), unpack.get());
    });
}
PyMethodDef hooks_methods[] = {
    {"__enter__", hooks_enter, METH_NOARGS, nullptr},
    exit_method<pop_function>(),
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot hooks_slots[] = {{Py_tp_methods, hooks_methods}, {0, nullptr}};
// On whoever has the attributes `pack_hook` and `unpack_hook`.
PyType_Spec hooks_spec = {"wengert._C._SavedTensorsHooks", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, hooks_slots};

struct DisabledObject {
    PyObject_HEAD std::vector<std::shared_ptr<const std::string>> before;
};
auto& before_of(PyObject* o) noexcept { return reinterpret_cast<DisabledObject*>(o)->before; }

PyObject* disabled_new(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* o = type->tp_alloc(type, 0);
    if (o) new (&before_of(o)) std::vector<std::shared_ptr<const std::string>>();
    return o;
}
void disabled_dealloc(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    std::destroy_at(&before_of(o));
    type->tp_free(o);
    Py_DECREF(type);
}
PyObject* disabled_enter(PyObject* o, PyObject*) {
    return returning_none([&] {
        PyRef message(checked(PyObject_GetAttrString(o, "error_message")));
        before_of(o).push_back(current<std::string>());
        try {
            disable(message.get());
        } catch (...) {
            before_of(o).pop_back();
            throw;
        }
    });
}
PyObject* disabled_exit(PyObject* o, PyObject*) {
    return returning_none([&] {
        check(!before_of(o).empty(), ErrorKind::Runtime, "leaving a disable_saved_tensors_hooks that is not active");
        restore_disabled(std::move(before_of(o).back()));
        before_of(o).pop_back();
    });
}
PyMethodDef disabled_methods[] = {
    {"__enter__", disabled_enter, METH_NOARGS, nullptr},
    exit_method<disabled_exit>(),
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot disabled_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(disabled_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(disabled_dealloc)},
    {Py_tp_methods, disabled_methods},
    {0, nullptr},
};
// On whoever has the attribute `error_message`.
PyType_Spec disabled_spec = {"wengert._C._DisabledSavedTensorsHooks", sizeof(DisabledObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, disabled_slots};

PyMethodDef functions[] = {
    {"_saved_tensors_hooks_is_enabled", is_allowed, METH_NOARGS, nullptr},
    {"_push_saved_tensors_default_hooks", push_function, METH_VARARGS, nullptr},
    {"_pop_saved_tensors_default_hooks", pop_function, METH_NOARGS, nullptr},
    {"_saved_tensors_hooks_disable", disable_function, METH_O, nullptr},
    {"_saved_tensors_hooks_enable", enable_function, METH_NOARGS, nullptr},
    {"_saved_tensors_hooks_get_disabled_error_message", disabled_message, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

std::unique_ptr<SavedVariableHooks> make_saved_hooks(PyObject* pack, PyObject* unpack) {
    return std::make_unique<PySavedHooks>(pack, unpack);
}

PyObject* packed_data(SavedVariableHooks& hooks) {
    auto* mine = dynamic_cast<PySavedHooks*>(&hooks);
    return mine ? mine->data() : Py_NewRef(Py_None);
}

PyObject* unpack_function(SavedVariableHooks& hooks) {
    auto* mine = dynamic_cast<PySavedHooks*>(&hooks);
    return mine ? mine->unpack_function() : Py_NewRef(Py_None);
}

int visit_saved_hooks(SavedVariableHooks& hooks, visitproc visit, void* arg) {
    auto* mine = dynamic_cast<PySavedHooks*>(&hooks);
    return mine ? mine->visit(visit, arg) : 0;
}

int add_saved_hook_functions(PyObject* module) {
    ThreadLocals::carry(
        {[]() -> ThreadLocals::Value { return current<Scope>(); },
         [](ThreadLocals::Value value) { set_scope(std::static_pointer_cast<const Scope>(std::move(value))); }});
    ThreadLocals::carry({[]() -> ThreadLocals::Value { return current<std::string>(); },
                         [](ThreadLocals::Value value) {
                             set_disabled(std::static_pointer_cast<const std::string>(std::move(value)));
                         }});
    return PyModule_AddFunctions(module, functions);
}

int add_saved_hook_contexts(PyObject* module) {
    static PyTypeObject *hooks_type, *disabled_type;
    return add_type(module, &hooks_spec, &hooks_type) < 0 ? -1 : add_type(module, &disabled_spec, &disabled_type);
}

}  // namespace wengert::python
