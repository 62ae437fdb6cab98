// What `wengert.sim` and `wengert.accelerator` are made of (`_C._sim`), and how the device lives with the interpreter.
#pragma once

#include <Python.h>

namespace wengert::python {

int add_sim_functions(PyObject* module);

}  // namespace wengert::python
