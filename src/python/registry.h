// Adds types and functions to the module and remembers functions by their qualified name ("linalg.norm").
#pragma once

#include <Python.h>

namespace wengert::python {

// Borrowed by nobody: a new reference, or null with KeyError set.
PyObject* registered_function(const char* name) noexcept;

// Binds a null-terminated table of functions into the module, or into its submodule `_<where>` ("nn.functional" ->
// `_nn_functional`), under the public name wengert.<where>.
int add_functions(PyObject* module, const char* where, const PyMethodDef* table);
// Adds methods to Tensor's type.
int add_tensor_methods(const PyMethodDef* table);

// A table entry of a METH_FASTCALL | METH_KEYWORDS function.
using FastFunction = PyObject* (*)(PyObject * self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
inline PyMethodDef fast_method(const char* name, FastFunction f, const char* doc) noexcept {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f)), METH_FASTCALL | METH_KEYWORDS, doc};
}

// Makes a heap type from a spec, adds it to the module under its last name, and leaves a reference in `slot`.
int add_type(PyObject* module, PyType_Spec* spec, PyTypeObject** slot, PyObject* bases = nullptr);

}  // namespace wengert::python
