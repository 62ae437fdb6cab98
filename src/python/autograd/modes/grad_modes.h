// The switches of recording as Python sees them.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_grad_modes(PyObject* module);
int add_mode_contexts(PyObject* module);  // as context managers

}  // namespace wengert::python
