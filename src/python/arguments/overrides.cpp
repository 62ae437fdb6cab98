#include "python/arguments/overrides.h"

#include <array>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/small_vector.h"
#include "python/exceptions.h"

namespace wengert::python {
namespace {

PyObject* disabled_implementation = nullptr;  // the object whose presence as attribute opts out
std::array<PyObject*, 2> names{};             // of hooks, in the order in which they are looked for
PyObject* dispatch_name = nullptr;
PyObject* module_name = nullptr;

// The type's own hook, bound to the type; null without exception if there is none.
PyRef hook_of(PyTypeObject* type) noexcept {
    for (PyObject* name : names) {
        PyRef hook(PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name));
        if (hook || !PyErr_ExceptionMatches(PyExc_AttributeError)) return hook;
        PyErr_Clear();
    }
    return PyRef();
}

// The hook as the type has it, not bound: this asks for no memory. What a metaclass answers counts too.
PyRef unbound_hook_of(PyTypeObject* type) noexcept {
    for (PyObject* name : names)
        if (PyObject* hook = _PyType_Lookup(type, name)) return PyRef::share(hook);
    if (Py_IS_TYPE(type, &PyType_Type)) return PyRef();
    PyRef hook = hook_of(type);
    if (!hook) PyErr_Clear();
    return hook;
}

// Whether a type is PyTorch's Tensor, or made of it. Its hook is for PyTorch's functions: it would call ours again.
bool is_of_pytorch(PyTypeObject* type) noexcept {
    PyObject* bases = type->tp_mro;
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); ++i) {
        PyRef module(PyObject_GetAttr(PyTuple_GET_ITEM(bases, i), module_name));
        if (!module) PyErr_Clear();
        const char* name = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : nullptr;
        if (!name) PyErr_Clear();
        if (name && (std::string_view(name) == "torch" || std::string_view(name).starts_with("torch."))) return true;
    }
    return false;
}

bool holds(PyObject* list, PyTypeObject* type) noexcept {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i)
        if (PyList_GET_ITEM(list, i) == reinterpret_cast<PyObject*>(type)) return true;
    return false;
}

// Collects the overriding types: in the order of the arguments, subclasses before their bases.
int collect_one(PyObject* o, PyObject* types, Batches batches) noexcept {
    if (is_exact_tensor(o) || !overrides(o, batches) || holds(types, Py_TYPE(o))) return 0;
    Py_ssize_t at = PyList_GET_SIZE(types);
    for (Py_ssize_t i = 0; i < at; ++i)
        if (PyType_IsSubtype(Py_TYPE(o), reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(types, i)))) at = i;
    return PyList_Insert(types, at, reinterpret_cast<PyObject*>(Py_TYPE(o)));
}

bool is_list(PyObject* o) noexcept { return PyTuple_Check(o) || PyList_Check(o); }

// Calls f with each object in nested lists and tuples, in order, until an answer is not 0; -1 with MemoryError set. To ask
// a type may run user code (of its metaclass), which may change the lists.
template <class F>
int for_each_nested(PyObject* root, F&& f) noexcept try {
    if (!is_list(root)) return f(root);
    struct Level {
        PyRef list;
        Py_ssize_t next = 0;
    };
    SmallVector<Level, 8> levels;        // indices are rarely deeper
    std::unordered_set<PyObject*> seen;  // a list may contain itself
    constexpr size_t shallow = 3;
    levels.push_back({PyRef::share(root)});
    while (!levels.empty()) {
        Level& level = levels.back();
        if (level.next >= PySequence_Fast_GET_SIZE(level.list.get())) {
            levels.pop_back();
            continue;
        }
        PyRef item = PyRef::share(PySequence_Fast_GET_ITEM(level.list.get(), level.next++));
        if (is_list(item.get())) {
            if (levels.size() < shallow || seen.insert(item.get()).second) levels.push_back({std::move(item)});
        } else if (int answer = f(item.get())) {
            return answer;
        }
    }
    return 0;
} catch (...) {
    PyErr_NoMemory();
    return -1;
}

int collect(PyObject* o, PyObject* types, Batches batches) noexcept {
    return for_each_nested(o, [&](PyObject* item) { return collect_one(item, types, batches); });
}

PyObject* ask_overrides(PyObject* function, PyObject* args, PyObject* kwargs, Batches batches) noexcept {
    PyRef types(PyList_New(0));
    if (!types) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
        if (collect(PyTuple_GET_ITEM(args, i), types.get(), batches) < 0) return nullptr;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; kwargs && PyDict_Next(kwargs, &at, &key, &value);) {
        const PyRef alive = PyRef::share(value);
        if (collect(value, types.get(), batches) < 0) return nullptr;
    }
    PyRef tuple(PyList_AsTuple(types.get()));
    PyRef no_kwargs(kwargs ? nullptr : PyDict_New());
    if (!tuple || (!kwargs && !no_kwargs)) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
        PyRef hook = hook_of(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(tuple.get(), i)));
        if (!hook && PyErr_Occurred()) return nullptr;
        if (!hook) continue;
        PyObject* answer = PyObject_CallFunctionObjArgs(hook.get(), function, tuple.get(), args,
                                                        kwargs ? kwargs : no_kwargs.get(), nullptr);
        if (answer != Py_NotImplemented) return answer;
        Py_DECREF(answer);
    }
    return PyErr_Format(
        PyExc_TypeError,
        "Multiple dispatch failed for '%R'; all __torch_function__ handlers returned NotImplemented: %R", function,
        tuple.get());
}

PyObject* disabled_function(PyObject*, PyObject*) { Py_RETURN_NOTIMPLEMENTED; }
PyMethodDef disabled_def = {"_disabled_torch_function_impl", disabled_function, METH_VARARGS,
                            "As the class attribute `__torch_function__`: operations are not overridden."};

PyObject* set_overrides_disabled(PyObject*, PyObject* value) {
    int disabled = PyObject_IsTrue(value);
    if (disabled < 0) return nullptr;
    return PyBool_FromLong(std::exchange(overrides_disabled, disabled));
}
PyObject* get_overrides_enabled(PyObject*, PyObject*) { return PyBool_FromLong(!overrides_disabled); }
PyObject* has_override(PyObject*, PyObject* args) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
        if (overrides(PyTuple_GET_ITEM(args, i))) Py_RETURN_TRUE;
    Py_RETURN_FALSE;
}

PyObject* call_override_function(PyObject*, PyObject* args) {
    PyObject *function, *arguments, *kwargs;
    if (!PyArg_ParseTuple(args, "OO!O!", &function, &PyTuple_Type, &arguments, &PyDict_Type, &kwargs)) return nullptr;
    return call_override(function, arguments, kwargs);
}

PyMethodDef functions[] = {
    {"_set_overrides_disabled", set_overrides_disabled, METH_O,
     "Switches overriding off or on for this thread; returns whether it was off."},
    {"_is_torch_function_enabled", get_overrides_enabled, METH_NOARGS, nullptr},
    {"_call_override", call_override_function, METH_VARARGS,
     "_call_override(function, args, kwargs)\n--\n\nAsks the overriding types among the arguments."},
    {"_has_torch_function", has_override, METH_VARARGS, "Whether any of the arguments overrides operations."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool type_overrides(PyTypeObject* type) noexcept {
    if (type == TensorType) return false;
    const PyRef hook = unbound_hook_of(type);
    return hook && hook.get() != disabled_implementation && !is_of_pytorch(type);
}

bool type_dispatches(PyTypeObject* type) noexcept {
    if (type == TensorType) return false;
    PyObject* hook = _PyType_Lookup(type, dispatch_name);
    return hook && hook != _PyType_Lookup(TensorType, dispatch_name);
}

bool any_overrides(PyObject* o, Batches batches) noexcept {
    const int found = for_each_nested(o, [&](PyObject* item) { return int{overrides(item, batches)}; });
    if (found < 0) PyErr_Clear();  // then whoever is called meets the same want of memory
    return found != 0;
}

PyObject* call_override(PyObject* function, PyObject* args, PyObject* kwargs, Batches batches) noexcept {
    // The hook may well call the function again, without a Python frame in between.
    if (Py_EnterRecursiveCall(" in __torch_function__")) return nullptr;
    PyObject* answer = ask_overrides(function, args, kwargs, batches);
    Py_LeaveRecursiveCall();
    return answer;
}

PyObject* call_override(const char* name, std::span<PyObject* const> args, Batches batches) noexcept {
    PyRef function(PyObject_GetAttrString(reinterpret_cast<PyObject*>(TensorType), name));
    PyRef tuple(PyTuple_New(static_cast<Py_ssize_t>(args.size())));
    if (!function || !tuple) return nullptr;
    for (size_t i = 0; i < args.size(); ++i)
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
    return call_override(function.get(), tuple.get(), nullptr, batches);
}

int add_override_functions(PyObject* module) {
    disabled_implementation = PyCFunction_New(&disabled_def, nullptr);
    names = {PyUnicode_InternFromString("__wengert_function__"), PyUnicode_InternFromString("__torch_function__")};
    module_name = PyUnicode_InternFromString("__module__");
    dispatch_name = PyUnicode_InternFromString("__torch_dispatch__");
    if (!disabled_implementation || !names[0] || !names[1] || !module_name || !dispatch_name ||
        PyModule_AddObjectRef(module, "_disabled_torch_function_impl", disabled_implementation) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}

}  // namespace wengert::python
