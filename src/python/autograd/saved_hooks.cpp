#include "python/autograd/saved_hooks.h"

#include <optional>
#include <string>
#include <vector>

#include "base/thread_locals.h"
#include "python/autograd/shared_objects.h"
#include "python/exceptions.h"
#include "python/tensor_object.h"

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

// Per thread. It is replaced, never changed, so that a pass takes it to another thread by its pointer.
struct Scopes {
    std::vector<std::shared_ptr<const Pair>> stack;
    std::optional<std::string> disabled;
};
using Held = std::shared_ptr<const Scopes>;
thread_local std::unique_ptr<Held> held;  // a pointer: see slab_lists in base/slab.h

Held& current_scopes() {
    if (!held) held = std::make_unique<Held>();
    return *held;
}

const Scopes& scopes() {
    static const Scopes none;
    return held && *held ? **held : none;
}

std::unique_ptr<SavedVariableHooks> innermost() {
    std::shared_ptr<const Pair> pair = scopes().stack.back();
    GilGuard gil;
    return make_saved_hooks(pair->pack, pair->unpack);
}

void set_scopes(std::shared_ptr<const Scopes> changed) {
    SavedTensorDefaultHooks::factory = changed && !changed->stack.empty() ? innermost : nullptr;
    current_scopes().swap(changed);  // user code may run when the old one dies
}

template <class F>
void change_scopes(F&& f) {
    ThreadLocals::changing();
    auto changed = std::make_shared<Scopes>(scopes());
    f(*changed);
    set_scopes(std::move(changed));
}

PyObject* push(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *pack, *unpack;
        if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return nullptr;
        check(PyCallable_Check(pack) && PyCallable_Check(unpack), ErrorKind::Type,
              "saved_tensors_hooks expects two callables, got ", Py_TYPE(pack)->tp_name, " and ",
              Py_TYPE(unpack)->tp_name);
        check(!scopes().disabled, ErrorKind::Runtime, scopes().disabled.value_or(""));
        change_scopes([&](Scopes& s) { s.stack.push_back(std::make_shared<Pair>(pack, unpack)); });
        Py_RETURN_NONE;
    });
}

PyObject* pop(PyObject*, PyObject*) {
    return guarded([&]() -> PyObject* {
        // A scope left twice, or inside an unpack hook, must not bring the process down.
        check(!scopes().stack.empty(), ErrorKind::Runtime, "leaving a saved_tensors_hooks scope that is not active");
        change_scopes([](Scopes& s) { s.stack.pop_back(); });
        Py_RETURN_NONE;
    });
}

PyObject* disable(PyObject*, PyObject* message) {
    return guarded([&]() -> PyObject* {
        check(PyUnicode_Check(message), ErrorKind::Type, "disable_saved_tensors_hooks expects a message (str)");
        const char* text = PyUnicode_AsUTF8(message);
        if (!text) return nullptr;
        check(scopes().stack.empty(), ErrorKind::Runtime, text);
        change_scopes([&](Scopes& s) { s.disabled = text; });
        Py_RETURN_NONE;
    });
}

PyObject* enable(PyObject*, PyObject*) {
    return guarded([]() -> PyObject* {
        change_scopes([](Scopes& s) { s.disabled.reset(); });
        Py_RETURN_NONE;
    });
}

PyObject* disabled_message(PyObject*, PyObject*) {
    if (!scopes().disabled) Py_RETURN_NONE;
    return PyUnicode_FromString(scopes().disabled->c_str());
}

PyObject* is_allowed(PyObject*, PyObject*) { return PyBool_FromLong(!scopes().disabled); }

PyMethodDef functions[] = {
    {"_saved_tensors_hooks_is_enabled", is_allowed, METH_NOARGS, nullptr},
    {"_push_saved_tensors_default_hooks", push, METH_VARARGS, nullptr},
    {"_pop_saved_tensors_default_hooks", pop, METH_NOARGS, nullptr},
    {"_saved_tensors_hooks_disable", disable, METH_O, nullptr},
    {"_saved_tensors_hooks_enable", enable, METH_NOARGS, nullptr},
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
        {[]() -> ThreadLocals::Value { return current_scopes(); },
         [](ThreadLocals::Value value) { set_scopes(std::static_pointer_cast<const Scopes>(std::move(value))); }});
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
