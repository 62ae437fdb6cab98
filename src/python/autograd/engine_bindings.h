// The engine in Python.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_engine_functions(PyObject* module);   // _engine_run_backward, _execution_engine, introspection
int add_version_functions(PyObject* module);  // version counters (versions.cpp)
int add_forward_functions(PyObject* module);  // dual levels (forward_bindings.cpp)

}  // namespace wengert::python
