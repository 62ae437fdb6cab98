// Methods and properties of the node type.
#pragma once

#include <Python.h>

namespace wengert::python {

extern PyMethodDef node_methods[];
extern PyGetSetDef node_properties[];
PyObject* node_getattro(PyObject* self, PyObject* name);  // `_saved_x`, then the usual
PyObject* node_call(PyObject* self, PyObject* args, PyObject* kwargs);

}  // namespace wengert::python
