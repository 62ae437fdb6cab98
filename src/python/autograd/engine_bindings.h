// The engine in Python.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_engine_functions(PyObject* module);   // _engine_run_backward, _execution_engine, introspection
int add_mode_functions(PyObject* module);     // grad modes, anomaly mode, versions (modes.cpp)
int add_forward_functions(PyObject* module);  // dual levels (forward_bindings.cpp)
// All of python/autograd/; called once when the module is made.
int add_autograd(PyObject* module);

}  // namespace wengert::python
