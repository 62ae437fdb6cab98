// The table that extensions get (wengert/bridge.h).
#pragma once

#include <Python.h>

namespace wengert::python {

int add_bridge(PyObject* module);

}  // namespace wengert::python
