// The switches of recording as Python sees them.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_grad_modes(PyObject* module);

}  // namespace wengert::python
