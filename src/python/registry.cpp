#include "python/registry.h"

#include <string>

#include "python/exceptions.h"
#include "python/objects/tensor_object.h"

namespace wengert::python {
namespace {

PyObject* functions_by_name = nullptr;

PyObject* namespace_of(PyObject* module, const std::string& where) {
    if (where.empty()) return module;
    std::string attribute = "_" + where;
    for (char& c : attribute)
        if (c == '.') c = '_';
    if (PyObject_HasAttrString(module, attribute.c_str())) {
        PyObject* found = PyObject_GetAttrString(module, attribute.c_str());
        Py_XDECREF(found);  // the module keeps it
        return found;
    }
    std::string full_name = "wengert._C." + attribute;
    PyRef created(PyModule_New(full_name.c_str()));
    if (!created || PyModule_AddObjectRef(module, attribute.c_str(), created.get()) < 0 ||
        PyDict_SetItemString(PyImport_GetModuleDict(), full_name.c_str(), created.get()) < 0)  // for `import *` from it
        return nullptr;
    return created.get();
}

}  // namespace

PyObject* registered_function(const char* name) noexcept {
    const PyRef key(PyUnicode_FromString(name));
    if (!key) return nullptr;
    PyObject* found = PyDict_GetItemWithError(functions_by_name, key.get());
    if (!found && PyErr_Occurred()) return nullptr;
    if (!found) return PyErr_Format(PyExc_KeyError, "no function is registered as '%s'", name);
    return Py_NewRef(found);
}

int add_functions(PyObject* module, const char* where, const PyMethodDef* table) {
    if (!functions_by_name && !(functions_by_name = PyDict_New())) return -1;
    PyObject* target = namespace_of(module, where);
    if (!target) return -1;
    std::string prefix = *where ? std::string(where) + "." : "";
    PyRef public_module(PyUnicode_FromString(*where ? ("wengert." + std::string(where)).c_str() : "wengert"));
    for (const PyMethodDef* def = table; def->ml_name; ++def) {
        PyRef function(PyCFunction_NewEx(const_cast<PyMethodDef*>(def), target, public_module.get()));
        if (!function || PyModule_AddObjectRef(target, def->ml_name, function.get()) < 0 ||
            PyDict_SetItemString(functions_by_name, (prefix + def->ml_name).c_str(), function.get()) < 0)
            return -1;
    }
    return 0;
}

int add_tensor_methods(const PyMethodDef* table) {
    for (const PyMethodDef* def = table; def->ml_name; ++def) {
        auto* mutable_def = const_cast<PyMethodDef*>(def);
        PyRef method(def->ml_flags & METH_STATIC ? PyCFunction_New(mutable_def, nullptr)
                                                 : PyDescr_NewMethod(TensorType, mutable_def));
        if (!method || PyObject_SetAttrString(reinterpret_cast<PyObject*>(TensorType), def->ml_name, method.get()) < 0)
            return -1;
    }
    return 0;
}

int add_type(PyObject* module, PyType_Spec* spec, PyTypeObject** slot, PyObject* bases) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, spec, bases));
    if (!type) return -1;
    *slot = type;
    return PyModule_AddType(module, type);
}

}  // namespace wengert::python
