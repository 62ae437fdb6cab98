#include "python/autograd/saved_hooks.h"

#include <optional>
#include <string>
#include <vector>

#include "python/exceptions.h"
#include "python/tensor_object.h"

namespace wengert::python {
namespace {

class PySavedHooks final : public SavedVariableHooks {
public:
    PySavedHooks(PyObject* pack, PyObject* unpack) noexcept : pack_(Py_NewRef(pack)), unpack_(Py_NewRef(unpack)) {}
    ~PySavedHooks() override {
        if (!Py_IsInitialized()) return;
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

private:
    PyObject* pack_;
    PyObject* unpack_;
    PyObject* data_ = nullptr;
};

// Per thread; owned references that are dropped by pop, or leak with a thread that ends inside a scope.
struct Scopes {
    std::vector<std::pair<PyObject*, PyObject*>> stack;
    std::optional<std::string> disabled;
};
thread_local Scopes scopes;

std::unique_ptr<SavedVariableHooks> innermost() {
    auto [pack, unpack] = scopes.stack.back();
    return make_saved_hooks(pack, unpack);
}

PyObject* push(PyObject*, PyObject* args) {
    return guarded([&]() -> PyObject* {
        PyObject *pack, *unpack;
        if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return nullptr;
        check(PyCallable_Check(pack) && PyCallable_Check(unpack), ErrorKind::Type,
              "saved_tensors_hooks expects two callables, got ", Py_TYPE(pack)->tp_name, " and ",
              Py_TYPE(unpack)->tp_name);
        check(!scopes.disabled, ErrorKind::Runtime, scopes.disabled.value_or(""));
        scopes.stack.emplace_back(Py_NewRef(pack), Py_NewRef(unpack));
        SavedTensorDefaultHooks::factory = innermost;
        Py_RETURN_NONE;
    });
}

PyObject* pop(PyObject*, PyObject*) {
    return guarded([&]() -> PyObject* {
        // A scope left twice, or inside an unpack hook, must not bring the process down.
        check(!scopes.stack.empty(), ErrorKind::Runtime, "leaving a saved_tensors_hooks scope that is not active");
        auto [pack, unpack] = scopes.stack.back();
        scopes.stack.pop_back();
        if (scopes.stack.empty()) SavedTensorDefaultHooks::factory = nullptr;
        Py_DECREF(pack);
        Py_DECREF(unpack);
        Py_RETURN_NONE;
    });
}

PyObject* disable(PyObject*, PyObject* message) {
    return guarded([&]() -> PyObject* {
        check(PyUnicode_Check(message), ErrorKind::Type, "disable_saved_tensors_hooks expects a message (str)");
        check(scopes.stack.empty(), ErrorKind::Runtime, PyUnicode_AsUTF8(message));
        scopes.disabled = PyUnicode_AsUTF8(message);
        Py_RETURN_NONE;
    });
}

PyObject* enable(PyObject*, PyObject*) {
    scopes.disabled.reset();
    Py_RETURN_NONE;
}

PyObject* disabled_message(PyObject*, PyObject*) {
    if (!scopes.disabled) Py_RETURN_NONE;
    return PyUnicode_FromString(scopes.disabled->c_str());
}

PyMethodDef functions[] = {
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

int add_saved_hook_functions(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace wengert::python
