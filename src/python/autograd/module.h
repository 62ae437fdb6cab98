// What of `_C` belongs to autograd: grad modes, nodes, the engine, custom Functions.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_autograd(PyObject* module);

}  // namespace wengert::python
